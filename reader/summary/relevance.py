"""How much sentences have to do with a question: by shared terms, and by what a reader makes of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .similarity import Floats


def term_relevance(counts: Floats, asked: Floats, idf: Floats) -> Floats:
    """(n,) float64, at least 0: how much of the question each sentence has, of (n, V) and (V,) counts.

    rel(s | q) = Σ_{w in q} ln(1 + tf_ws) ln(1 + tf_wq) idf_w
    Source: Otterbacher, Erkan and Radev 2005, section 3.1, equation 1.

    >>> term_relevance(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, 0.0]), np.ones(2)).round(3).tolist()
    [0.48, 0.0]
    """
    found: Floats = np.log1p(counts) @ (np.log1p(asked) * idf)
    return found


def blended_relevance(lexical: Floats, given: ArrayLike, share: float) -> Floats:
    """(n,) float64: relevance in terms blended with one that comes from elsewhere, each at a sum of 1.

    (1 - share) lexical / Σ lexical + share given / Σ given; what is all 0 adds nothing.
    ValueError: a share outside of 0..1, another number of sentences, or a number below 0 or not finite.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; expected 0..1")
    values = np.asarray(given, dtype=np.float64)
    if values.shape != lexical.shape:
        raise ValueError(f"relevance has the shape {values.shape}; expected {lexical.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("relevance holds a number that is below 0 or not finite")
    return (1 - share) * _shares(lexical) + share * _shares(values)


def _shares(values: Floats) -> Floats:
    """The values at a sum of 1."""
    values = scaled(values)  # first, so that the sum cannot overflow
    return values / max(1.0, float(values.sum()))


def scaled(values: Floats) -> Floats:
    """The values over their greatest; as they are where that is 0 or there are none."""
    greatest = float(values.max(initial=0.0))
    return values / greatest if greatest > 0 else values
