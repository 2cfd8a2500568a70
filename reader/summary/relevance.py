"""How much sentences have to do with a question: shared terms, and the cosine with its vector."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .similarity import Floats, finite_vectors, unit_rows


def term_relevance(counts: Floats, asked: Floats, idf: Floats) -> Floats:
    """(n,) float64, at least 0: how much of the question each sentence has, of (n, V) and (V,) counts.

    rel(s | q) = Σ_{w in q} ln(1 + tf_ws) ln(1 + tf_wq) idf_w
    Source: Otterbacher, Erkan and Radev 2005, section 3.1, equation 1.

    >>> term_relevance(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, 0.0]), np.ones(2)).round(3).tolist()
    [0.48, 0.0]
    """
    found: Floats = np.log1p(counts) @ (np.log1p(asked) * idf)
    return found


def blended_relevance(
    lexical: Floats, vectors: NDArray[np.floating], question: NDArray[np.floating], share: float
) -> Floats:
    """(n,) float64, 0..1: relevance in terms, scaled to a best of 1, blended with that in vectors.

    (1 - share) lexical / max(lexical) + share max(0, cos(v_i, q)) for vectors (n, d) and (d,).
    ValueError: a share outside of 0..1, shapes that do not fit, or a number that is not finite.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; expected 0..1")
    rows = unit_rows(finite_vectors(vectors, len(lexical)))
    asked = unit_rows(finite_vectors(np.atleast_2d(question), 1))[0]
    if asked.shape != rows.shape[1:]:
        raise ValueError(
            f"the question's vector has {len(asked)} numbers, those of sentences {rows.shape[1]}"
        )
    found: Floats = (1 - share) * scaled(lexical) + share * np.clip(rows @ asked, 0.0, 1.0)
    return found


def scaled(values: Floats) -> Floats:
    """The values over their greatest; as they are where that is 0 or there are none."""
    greatest = float(values.max(initial=0.0))
    return values / greatest if greatest > 0 else values
