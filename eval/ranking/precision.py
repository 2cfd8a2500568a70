"""P@k: how much of the first k is relevant."""

from __future__ import annotations

from .judged_ranking import JudgedRanking


def precision(found: JudgedRanking, k: int, rel: int = 1) -> float:
    """The share of the first k ranks that hold a document with a relevance of at least `rel`, 0..1.

    P@k = |relevant among the first k| / k; a ranking shorter than k is filled up with irrelevant documents.
    Source: van Rijsbergen 1979, "Information Retrieval", chapter 7; trec_eval `P`.

    >>> from .judged_ranking import judge
    >>> precision(judge(["a", "b", "c"], {"a": 1, "c": 2}), k=5)
    0.4
    """
    return len(found.relevant_ranks(rel, k)) / k
