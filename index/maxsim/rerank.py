"""The scores that are returned: of decoded vectors, whatever proposed the passages.

    score = sum over question rows r of max over passage tokens t of <q_r, decode(t)>

Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, equation 3. The products are float32, the sum float64.
Each passage is multiplied alone: equal passages get equal bits, and a score does not depend on company.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .decoding import decoded
from .stored_tokens import StoredTokens

_TOGETHER = 128  # passages that are decoded at once


def exact_scores(
    stored: StoredTokens, rows: NDArray[np.int64], question: NDArray[np.float32]
) -> NDArray[np.float64]:
    """(n,) float64: the score of each of these rows of the stored tokens for a question (m, width)."""
    scores = np.empty(len(rows), np.float64)
    columns = question.T
    for first in range(0, len(rows), _TOGETHER):
        here = rows[first : first + _TOGETHER]
        vectors = decoded(stored.codebook, stored.read(here))
        start = 0
        for place, end in enumerate(np.cumsum(stored.lengths[here]).tolist(), start=first):
            scores[place] = maxsim(vectors[start:end] @ columns)
            start = end
    return scores


def maxsim(similarities: NDArray[np.float32]) -> float:
    """The sum over question rows (columns) of the largest similarity with a token (rows).

    >>> maxsim(np.array([[0.5, 0.75], [1.0, 0.0]], np.float32))
    1.75
    """
    return float(similarities.max(axis=0).sum(dtype=np.float64))
