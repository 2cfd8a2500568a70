"""Success@k: whether there is anything relevant among the first k."""

from __future__ import annotations

from .judged_ranking import JudgedRanking


def success(found: JudgedRanking, k: int, rel: int = 1) -> float:
    """1.0 when a document with a relevance of at least `rel` is among the first k, else 0.0.

    Question answering calls it top-k accuracy, or recall@k where one document is right.
    Source: Tomlinson 2005, "Early Precision Measures: Implications from the Downside of Blind Feedback";
    trec_eval `success`.

    >>> from .judged_ranking import judge
    >>> success(judge(["b", "a"], {"a": 1}), k=1), success(judge(["b", "a"], {"a": 1}), k=2)
    (0.0, 1.0)
    """
    return float(len(found.relevant_ranks(rel, k)) > 0)
