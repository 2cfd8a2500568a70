"""The best k of scored passages, in one order for everybody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .protocol import Places, Ranking


def best(passage_ids: NDArray[np.int64], scores: NDArray[np.float64], k: int, places: Places) -> Ranking:
    """The k highest scores, best first; equal scores by (document id, start, end).

    Places are only asked for when scores tie, since that reads the catalog.
    """
    if len(scores) > k:
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        kept = scores >= threshold  # everything that ties with the last place stays until it is ordered
        passage_ids, scores = passage_ids[kept], scores[kept]
    if len(np.unique(scores)) == len(scores):
        order = np.argsort(-scores)
    else:
        at = places(passage_ids.tolist())
        order = np.array(sorted(range(len(scores)), key=lambda row: (-scores[row], at[row])), np.int64)
    return Ranking(passage_ids[order[:k]], scores[order[:k]])


def rows_among(passage_ids: NDArray[np.int64], among: NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
    """Which rows hold a passage of `among`, (rows,); None when all may be found.

    Raises `ValueError` when `among` does not ascend.
    """
    if among is None:
        return None
    if among.ndim != 1 or among.dtype != np.int64 or (among[1:] <= among[:-1]).any():
        raise ValueError(f"among must be ascending int64 passage ids, not {among!r}")
    return np.isin(passage_ids, among)


def check_k(k: int) -> None:
    """Refuse to return fewer than one passage."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
