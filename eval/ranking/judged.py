"""Judged@k: how much of the first k was judged at all, that is, how far the other measures can be trusted."""

from __future__ import annotations

from .judged_ranking import JudgedRanking


def judged(found: JudgedRanking, k: int | None = None) -> float:
    """The share of the first k documents that have a judgement of any value, 0..1.

    Judged@k = |judged among the first k| / min(k, length of the ranking); 0 for an empty ranking.
    Source: MacAvaney et al. 2022, "Streamlining Evaluation with ir-measures", `Judged`.

    >>> from .judged_ranking import judge
    >>> judged(judge(["a", "x", "b", "y"], {"a": 1, "b": 0}), k=4)
    0.5
    """
    ranks, _ = found.first(k)
    looked_at = found.n_ranked if k is None else min(k, found.n_ranked)
    return len(ranks) / looked_at if looked_at else 0.0
