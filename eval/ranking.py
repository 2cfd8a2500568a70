"""Ranking measures as trec_eval defines them: nDCG, AP, RR, precision and recall.

`judge` joins a ranking with the judgements of its query. As in trec_eval, an unjudged document has a rank
and no gain, and a relevance below 1 is not relevant.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """The judged documents of one ranking, and all judgements of its query; made by `judge`.

    ranks: (n,) int64, of the judged documents, ascending from 1.
    levels: (n,) int64, their relevance.
    judgements: (m,) int64, the relevance of every judged document, highest first.
    """

    ranks: Integers
    levels: Integers
    judgements: Integers

    def first(self, k: int | None) -> tuple[Integers, Integers]:
        """The ranks and levels up to rank k, or all of them."""
        n = len(self.ranks) if k is None else int(np.searchsorted(self.ranks, k, side="right"))
        return self.ranks[:n], self.levels[:n]

    def relevant_ranks(self, k: int | None = None) -> Integers:
        """The ranks up to k of the relevant documents."""
        ranks, levels = self.first(k)
        return ranks[levels >= 1]

    @property
    def n_relevant(self) -> int:
        """The number of relevant documents, retrieved or not."""
        return int(np.count_nonzero(self.judgements >= 1))


Measure = Callable[[JudgedRanking], float]


def judge(ranking: Sequence[str], judged: Mapping[str, int]) -> JudgedRanking:
    """A ranking of distinct documents, best first, with its judgements.

    >>> judge(["d3", "d1", "d2"], {"d1": 2, "d2": 0, "d9": 1})
    JudgedRanking(ranks=array([2, 3]), levels=array([2, 0]), judgements=array([2, 1, 0]))
    """
    rows = [(rank, judged[document]) for rank, document in enumerate(ranking, start=1) if document in judged]
    ranks, levels = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    judgements = np.sort(np.fromiter(judged.values(), dtype=np.int64, count=len(judged)))[::-1]
    return JudgedRanking(ranks, levels, judgements)


def trec_order(scores: Mapping[str, float]) -> list[str]:
    """The documents by score, best first; ties by descending id.

    Scores are compared in single precision, as trec_eval does up to version 9 and pytrec_eval does. Ids
    compare by code points. ValueError: a score is NaN. Source: `form_res_rels.c` of trec_eval.

    >>> trec_order({"a": 1.0, "b": 1.0 + 1e-9, "c": 2.0})
    ['c', 'b', 'a']
    """
    values = np.fromiter(scores.values(), dtype=np.float64, count=len(scores))
    if np.isnan(values).any():
        document = next(document for document, score in scores.items() if score != score)
        raise ValueError(f"the score of document {document!r} is {scores[document]}; expected a number")
    with np.errstate(over="ignore"):  # beyond single precision: infinite, as in C
        single = values.astype(np.float32)
    return [document for _, document in sorted(zip(single.tolist(), scores, strict=True), reverse=True)]


def ndcg(ranking: JudgedRanking, k: int | None = None) -> float:
    """The normalised discounted cumulative gain of the first k ranks, 0..1; all ranks without k.

    DCG@k = sum over the first k ranks r of max(relevance_r, 0) / log2(1 + r), nDCG@k = DCG@k / ideal DCG@k;
    0 if nothing is relevant. The ideal ranks all judged documents. The gain is the relevance itself, not
    2^relevance - 1.
    Source: Järvelin and Kekäläinen 2002, "Cumulated Gain-Based Evaluation of IR Techniques", section 2, with
    the discount log2(1 + r) from the first rank on as in trec_eval `ndcg` and `ndcg_cut`.

    >>> round(ndcg(judge(["x", "a"], {"a": 3})), 6)  # (3 / log2 3) / (3 / log2 2)
    0.63093
    """
    ranks, levels = ranking.first(k)
    best = ranking.judgements if k is None else ranking.judgements[:k]
    ideal = _dcg(np.arange(1, len(best) + 1), best)
    return _dcg(ranks, levels) / ideal if ideal else 0.0


def _dcg(ranks: Integers, levels: Integers) -> float:
    return float((np.maximum(levels, 0) / np.log2(ranks + 1)).sum())


def average_precision(ranking: JudgedRanking) -> float:
    """The mean of the precision at each relevant document, 0..1; it is 0 at one that is not retrieved.

    AP = 1/R * sum over i = 1..n of i / rank_i, where rank_i is the rank of the i-th relevant document and
    R counts all relevant documents; 0 where R is 0. Its mean over the queries is MAP.
    Source: Buckley and Voorhees 2005, "Retrieval System Evaluation", in "TREC: Experiment and Evaluation in
    Information Retrieval", chapter 3; trec_eval `map`.

    >>> average_precision(judge(["a", "b", "c", "d"], {"a": 1, "d": 1, "e": 1}))  # (1/1 + 2/4 + 0) / 3
    0.5
    """
    ranks = ranking.relevant_ranks()
    if not len(ranks):
        return 0.0
    return float((np.arange(1, len(ranks) + 1) / ranks).sum()) / ranking.n_relevant


def reciprocal_rank(ranking: JudgedRanking) -> float:
    """1 / (rank of the first relevant document); 0 when none is retrieved. Its mean is MRR.

    Source: Voorhees 1999, "The TREC-8 Question Answering Track Report", section 3; trec_eval `recip_rank`.

    >>> reciprocal_rank(judge(["b", "a", "c"], {"a": 1, "c": 1}))
    0.5
    """
    ranks = ranking.relevant_ranks()
    return 1 / int(ranks[0]) if len(ranks) else 0.0


def precision(ranking: JudgedRanking, k: int) -> float:
    """The share of the first k ranks that hold a relevant document, 0..1; missing ranks are irrelevant.

    Source: van Rijsbergen 1979, "Information Retrieval", chapter 7; trec_eval `P`.

    >>> precision(judge(["a", "b", "c"], {"a": 1, "c": 2}), k=5)
    0.4
    """
    return len(ranking.relevant_ranks(k)) / k


def recall(ranking: JudgedRanking, k: int) -> float:
    """The share of the relevant documents that the first k ranks hold, 0..1; 0 if nothing is relevant.

    Source: Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", section 8.3;
    trec_eval `recall`.

    >>> recall(judge(["b", "a", "c"], {"a": 1, "c": 1}), k=2)
    0.5
    """
    ranks = ranking.relevant_ranks(k)
    return len(ranks) / ranking.n_relevant if ranking.n_relevant else 0.0


MEASURES: Mapping[str, Measure] = {
    "nDCG@10": partial(ndcg, k=10),
    "R@100": partial(recall, k=100),
    "RR": reciprocal_rank,
    "AP": average_precision,
    "P@10": partial(precision, k=10),
}
"""The measures of `eval retrieval`, by the names that ir_measures gives them."""
