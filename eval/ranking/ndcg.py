"""nDCG and nDCG@k: the gain of a ranking, discounted by rank, as a share of the best possible one."""

from __future__ import annotations

import numpy as np

from .judged_ranking import Integers, JudgedRanking


def ndcg(found: JudgedRanking, k: int | None = None) -> float:
    """The discounted gain of the first k ranks over that of the best ranking of all judged documents, 0..1.

    DCG@k = sum over the first k ranks r of max(relevance_r, 0) / log2(1 + r), nDCG@k = DCG@k / ideal DCG@k;
    0 where nothing is relevant. The gain is the relevance itself, not 2^relevance - 1, and what was not
    judged, or judged below 0, gains nothing.
    Source: Järvelin and Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques", section 2, with
    the discount log2(1 + r) from the first rank on as in trec_eval `ndcg` and `ndcg_cut`.

    >>> from .judged_ranking import judge
    >>> round(ndcg(judge(["x", "a"], {"a": 3})), 6)  # (3 / log2 3) / (3 / log2 2)
    0.63093
    """
    ranks, levels = found.first(k)
    best = found.judgements if k is None else found.judgements[:k]
    ideal = _dcg(np.arange(1, len(best) + 1), best)
    return _dcg(ranks, levels) / ideal if ideal else 0.0


def _dcg(ranks: Integers, levels: Integers) -> float:
    """The gains of the levels (n,) at the ranks (n,), discounted and added."""
    return float((np.maximum(levels, 0) / np.log2(ranks + 1)).sum())
