"""Reciprocal rank and its mean: how early the first relevant id stands.

Of plain lists of ids, where all that is relevant is equally so; `ranking.reciprocal_rank` is the measure of
scored runs and graded judgements.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence


def reciprocal_rank(
    ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int | None = None
) -> float:
    """1 / (rank of the first relevant id), ranks from 1; 0.0 when none stands in the first k, or at all.

    `k` None looks at the whole ranking. ValueError: k < 1.
    Source: Voorhees 1999, "The TREC-8 Question Answering Track Report", section 3.

    >>> reciprocal_rank(["b", "a", "c"], {"a", "c"})
    0.5
    >>> reciprocal_rank(["b", "a", "c"], {"a", "c"}, k=1)
    0.0
    """
    if k is not None and k < 1:
        raise ValueError(f"k is {k}; expected at least 1, or None for the whole ranking")
    wanted = set(relevant)
    return next((1 / rank for rank, found in enumerate(ranking[:k], start=1) if found in wanted), 0.0)
