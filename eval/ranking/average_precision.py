"""AP and AP@k: precision, averaged over the places where relevant documents stand."""

from __future__ import annotations

import numpy as np

from .judged_ranking import JudgedRanking


def average_precision(found: JudgedRanking, k: int | None = None, rel: int = 1) -> float:
    """The mean of the precision at each relevant document, 0..1; one beyond rank k, or not found, adds 0.

    AP = 1/R * sum over i = 1..n of i / rank_i, where rank_i is the rank of the i-th document found with a
    relevance of at least `rel`, and R counts all such documents, found or not; 0 where R is 0. Its mean over
    the queries is known as MAP.
    Source: Buckley and Voorhees 2005, "Retrieval System Evaluation", in "TREC: Experiment and Evaluation in
    Information Retrieval", chapter 3; trec_eval `map` and `map_cut`.

    >>> from .judged_ranking import judge
    >>> average_precision(judge(["a", "b", "c", "d"], {"a": 1, "d": 1, "e": 1}))  # (1/1 + 2/4 + 0) / 3
    0.5
    """
    ranks, n_relevant = found.relevant_ranks(rel, k), found.n_relevant(rel)
    if not len(ranks):
        return 0.0
    return float((np.arange(1, len(ranks) + 1) / ranks).sum()) / n_relevant
