"""Recall at k: how much of what is relevant stands among the first k.

Of plain lists of ids, where all that is relevant is equally so; `ranking.recall` is the measure of scored
runs and graded judgements.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence


def recall_at_k(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """The share of the relevant ids found in the first k of the ranking, 0..1.

    R@k = |first k ∩ relevant| / |relevant|. With one relevant id it is 1 or 0 (then also called success or
    top-k accuracy). An id that is ranked twice counts once. ValueError: k < 1, or nothing relevant, where
    the measure is undefined.
    Source: Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", section 8.3.

    >>> recall_at_k(["b", "a", "c"], {"a", "c"}, k=2)
    0.5
    """
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1")
    wanted = set(relevant)
    if not wanted:
        raise ValueError("no relevant ids: recall is undefined; leave such questions out")
    return len(wanted.intersection(ranking[:k])) / len(wanted)
