"""LexRank: where a walk between like sentences, drawn to what was asked, is found in the long run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .similarity import Floats

TOLERANCE = 1e-12  # the most that the probabilities may be off in sum
LEAST_BIAS = 1e-3  # below it the walk takes too many steps to be computed


def lexrank(similarity: ArrayLike, relevance: ArrayLike | None = None, bias: float = 0.15) -> Floats:
    """(n,) float64 probabilities that sum to 1: how central and relevant each of n sentences is.

    p(s) = d rel(s) / Σ_z rel(z) + (1 - d) Σ_v sim(v, s) / Σ_z sim(v, z) p(v)

    with d the `bias`, from a similarity (n, n) of at least 0, whose diagonal counts. Without relevance, or
    where all of it is 0, every sentence is as relevant: plain LexRank. Each step brings p nearer to the
    solution by the factor 1 - d, and steps are taken until no more than TOLERANCE (L1) can be missing.

    Source: Otterbacher, Erkan and Radev 2005, equation 2; without relevance Erkan and Radev 2004, equation 2
    with the similarities themselves as weights (their continuous LexRank).
    ValueError: shapes that do not fit, a number below 0 or not finite, a row without any similarity, a bias
    outside of LEAST_BIAS..1.

    >>> lexrank([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]).round(3).tolist()
    [0.306, 0.388, 0.306]
    """
    weights = _checked(similarity)
    if not LEAST_BIAS <= bias <= 1:
        raise ValueError(f"bias is {bias}; expected {LEAST_BIAS}..1")
    drawn = _distribution(relevance, len(weights))
    steps = weights / weights.sum(axis=1, keepdims=True)  # (n, n), rows sum to 1
    found = drawn
    for _ in range(_rounds(bias)):
        following = bias * drawn + (1 - bias) * (found @ steps)
        change, found = float(np.abs(following - found).sum()), following
        if change * (1 - bias) <= TOLERANCE * bias:  # what all further steps together can change
            break
    return found / found.sum() if len(found) else found


def _rounds(bias: float) -> int:
    """After how many steps the distance, 2 at first, is below TOLERANCE."""
    return 1 if bias == 1 else math.ceil(math.log(TOLERANCE / 2) / math.log1p(-bias))


def _checked(similarity: ArrayLike) -> Floats:
    weights = np.asarray(similarity, dtype=np.float64)
    if weights.size == 0:
        weights = weights.reshape(0, 0)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"similarity has the shape {weights.shape}; expected (n, n)")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("similarity holds a number that is below 0 or not finite")
    if not weights.any(axis=1).all():
        raise ValueError(f"sentence {int(np.argmin(weights.any(axis=1)))} is like none, not even itself")
    return weights


def _distribution(relevance: ArrayLike | None, n: int) -> Floats:
    values = np.zeros(n) if relevance is None else np.asarray(relevance, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"relevance has the shape {values.shape}; expected ({n},)")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("relevance holds a number that is below 0 or not finite")
    if not values.any():
        return np.full(n, 1 / max(n, 1))
    values = values / values.max()  # first, so that the sum cannot overflow
    found: Floats = values / values.sum()
    return found
