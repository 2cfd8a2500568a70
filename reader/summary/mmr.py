"""Maximal marginal relevance: the next sentence is good and unlike those that were taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .similarity import Floats

_DIGITS = 12  # scores that differ behind them differ by rounding, and are a tie


def every(candidate: int, chosen: Sequence[int]) -> bool:
    """True: nothing speaks against the candidate."""
    return True


def mmr(
    score: ArrayLike,
    similarity: ArrayLike,
    trade: float,
    k: int,
    admits: Callable[[int, Sequence[int]], bool] = every,
) -> list[int]:
    """The places of up to k candidates, in the order in which they are chosen; ties by place.

    next = argmax_i λ score_i - (1 - λ) max_{j chosen} similarity_ij

    with λ the `trade`, from scores (n,) and similarities (n, n). λ = 1 is the ranking by score. The first
    is the best by score, unless λ is 0. `admits` is asked once about each candidate, when it is the next,
    with those chosen so far; one that is refused is out for good and does not count as said.

    Source: Carbonell and Goldstein 1998, "The Use of MMR, Diversity-Based Reranking for Reordering Documents
    and Producing Summaries". ValueError: a trade outside of 0..1, k below 0, shapes that do not fit.

    >>> mmr([0.9, 0.8, 0.3], [[1, 1, 0], [1, 1, 0], [0, 0, 1]], 0.5, 2)
    [0, 2]
    """
    scores, likeness = _checked(score, similarity, trade, k)
    said, left = np.zeros(len(scores)), np.ones(len(scores), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < k and left.any():
        worth = np.round(trade * scores - (1 - trade) * said, _DIGITS)
        best = int(np.argmax(np.where(left, worth, -np.inf)))
        left[best] = False
        if admits(best, chosen):
            chosen.append(best)
            said = np.maximum(said, likeness[best])
    return chosen


def _checked(score: ArrayLike, similarity: ArrayLike, trade: float, k: int) -> tuple[Floats, Floats]:
    scores = np.asarray(score, dtype=np.float64)
    likeness = np.asarray(similarity, dtype=np.float64)
    n = len(scores)
    if likeness.size == 0:
        likeness = likeness.reshape(0, 0)
    if scores.ndim != 1 or likeness.shape != (n, n):
        raise ValueError(f"shapes {scores.shape} and {likeness.shape}; expected (n,) and (n, n)")
    if not (np.isfinite(scores).all() and np.isfinite(likeness).all()):
        raise ValueError("a score or a similarity is not finite")
    if not 0 <= trade <= 1 or k < 0:
        raise ValueError(f"trade {trade} and k {k}; expected 0..1 and at least 0")
    return scores, likeness
