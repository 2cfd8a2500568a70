"""The ranking of candidates by scores that depend on nothing but the two vectors.

Every search proposes rows in its own arithmetic, which adds up in an order of its own. What is returned are
products and sums in float64 along one row: the same bits for a pair of vectors, whatever proposed it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .protocol import Places, Ranking
from .ranking import best
from .stored_vectors import StoredVectors


def float32_slack(width: int) -> float:
    """How far the difference of two float32 scores of unit vectors may be from that of the exact ones.

    Each of the two sums of `width` products is off by at most width * eps / 2; twice that is allowed.
    """
    return 2 * width * float(np.finfo(np.float32).eps)


def best_of(
    stored: StoredVectors, rows: NDArray[np.int64], query: NDArray[np.float32], k: int, places: Places
) -> Ranking:
    """The best k of these rows, which differ from one another, for one query (width,)."""
    vectors = stored.gather(rows)
    if len(rows) > k:
        rough = vectors @ query
        threshold = np.partition(rough, len(rough) - k)[len(rough) - k] - float32_slack(len(query))
        near = rough >= threshold
        rows, vectors = rows[near], vectors[near]
    exact = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return best(stored.passage_ids[rows], exact, k, places)
