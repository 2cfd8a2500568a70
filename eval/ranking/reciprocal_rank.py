"""RR and RR@k: how early the first relevant document stands."""

from __future__ import annotations

from .judged_ranking import JudgedRanking


def reciprocal_rank(found: JudgedRanking, k: int | None = None, rel: int = 1) -> float:
    """1 / (rank of the first document with a relevance of at least `rel`); 0 when the first k hold none.

    Its mean over the queries is known as MRR.
    Source: Voorhees 1999, "The TREC-8 Question Answering Track Report", section 3; trec_eval `recip_rank`;
    with a cutoff, the evaluation script of MS MARCO.

    >>> from .judged_ranking import judge
    >>> reciprocal_rank(judge(["b", "a", "c"], {"a": 1, "c": 1}))
    0.5
    """
    ranks = found.relevant_ranks(rel, k)
    return 1 / int(ranks[0]) if len(ranks) else 0.0
