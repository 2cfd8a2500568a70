"""R@k: how much of what is relevant stands among the first k."""

from __future__ import annotations

from .judged_ranking import JudgedRanking


def recall(found: JudgedRanking, k: int, rel: int = 1) -> float:
    """The share of the documents with a relevance of at least `rel` that the first k hold, 0..1.

    R@k = |relevant among the first k| / |relevant|; 0 where nothing is relevant, as in trec_eval.
    Source: Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", section 8.3;
    trec_eval `recall`.

    >>> from .judged_ranking import judge
    >>> recall(judge(["b", "a", "c"], {"a": 1, "c": 1}), k=2)
    0.5
    """
    ranks, n_relevant = found.relevant_ranks(rel, k), found.n_relevant(rel)
    return len(ranks) / n_relevant if n_relevant else 0.0
