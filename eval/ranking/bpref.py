"""Bpref: how seldom a judged irrelevant document stands above a relevant one."""

from __future__ import annotations

import numpy as np

from .judged_ranking import JudgedRanking


def bpref(found: JudgedRanking, rel: int = 1) -> float:
    """The share of the preferences "relevant before irrelevant" that the ranking keeps, 0..1.

    bpref = 1/R * sum over the relevant documents r found of 1 - min(n_r, R) / min(N, R). R documents are
    judged to have a relevance of at least `rel`, N to have one of 0 up to `rel`, and n_r of the latter stand
    above r. Where n_r is 0, r adds 1; where R is 0, bpref is 0. A document that was not judged, or judged
    below 0 (in the pool, but not looked at), counts for nothing.
    Source: Buckley and Voorhees 2004, "Retrieval Evaluation with Incomplete Information", section 3, with
    min(N, R) in place of R as in trec_eval `bpref`.

    >>> from .judged_ranking import judge
    >>> bpref(judge(["a", "n", "b"], {"a": 1, "b": 1, "n": 0, "m": 0}))  # (1 + (1 - 1/2)) / 2
    0.75
    """
    n_relevant = found.n_relevant(rel)
    if not len(found.relevant_ranks(rel)):
        return 0.0
    n_irrelevant = int(np.count_nonzero(found.judgements >= 0)) - n_relevant
    irrelevant = (found.levels >= 0) & (found.levels < rel)
    above = np.cumsum(irrelevant)[found.levels >= rel]
    lost = np.minimum(above, n_relevant) / max(1, min(n_irrelevant, n_relevant))
    return float((1 - lost).sum()) / n_relevant
