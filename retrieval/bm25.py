"""Okapi BM25.

    score(q, d) = sum over the terms t of q of  idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / avgdl))

tf is how often t occurs in passage d, |d| the passage's length in terms. A term that occurs twice in the
question counts twice. The factor k1 + 1 changes no ranking. With it, a term that occurs once in a passage of
average length scores exactly its idf.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.5.
Deviation: Lucene's idf, with 1 + inside the logarithm. The classic idf is negative for a term in more than
half of the passages. Passages without that term would then rank higher.

`rank_bm25` computes the same ranking with the library rank_bm25, as a reference. It uses `BM25Okapi` with the
same terms, k1, b and idf. It is slow, because it scores every passage in Python.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TypeVar

import numpy as np

from spanwise.errors import IndexEmpty

from ..index.analysis import Analyzer
from ..index.lexical import PostingsIndex
from ..index.live_postings import CorpusStatistics, LivePostings, StatisticsSource
from ..index.protocol import Doubles, Ids, Places, Ranking
from ..index.snapshot import Snapshot
from ..index.top_k import best, check_k, rows_among
from .stage import Stage, Terms, lexical_stage, name_weight

Number = TypeVar("Number", float, Doubles)


def idf_lucene(df: int, n_docs: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)) for a term in n = `df` of N = `n_docs` passages; always positive.

    >>> round(idf_lucene(1, 4), 6)
    1.203973
    """
    return log(1 + (n_docs - df + 0.5) / (df + 0.5))


def length_norm(length_ratio: Number, k1: float, b: float) -> Number:
    """k1 * (1 - b + b * length_ratio), with length_ratio = |d| / avgdl.

    >>> length_norm(1.0, k1=1.2, b=0.75)
    1.2
    """
    return k1 * (1 - b + b * length_ratio)


def tf_saturation(tf: Number, length_ratio: Number, k1: float, b: float) -> Number:
    """tf * (k1 + 1) / (tf + length_norm); below k1 + 1.

    >>> tf_saturation(2.0, 1.0, k1=1.2, b=0.75)
    1.375
    """
    return tf * (k1 + 1) / (tf + length_norm(length_ratio, k1, b))


@dataclass(frozen=True, slots=True)
class TermWeight:
    """The score of one term in passages, see `tf_saturation`.

    weight: the term's idf times its count in the question.
    avgdl: the mean length of a passage in terms.
    """

    weight: float
    avgdl: float
    k1: float
    b: float

    def __call__(self, tf: Doubles, lengths: Ids) -> Doubles:
        """weight * tf_saturation for passages of these lengths that contain the term `tf` times."""
        return self.weight * tf_saturation(tf, lengths / self.avgdl, self.k1, self.b)


@dataclass(frozen=True, slots=True)
class BM25:
    """The weighting of BM25.

    k1: controls the saturation of tf, at least 0.
    b: controls the effect of length, from 0 (none) to 1.
    """

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        """ValueError for constants outside their range."""
        if not self.k1 >= 0:
            raise ValueError(f"k1 must be at least 0, not {self.k1}")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b must be from 0 to 1, not {self.b}")

    def scores(
        self, question: Sequence[str], postings: LivePostings, statistics: CorpusStatistics
    ) -> Doubles:
        """The score of every row, 0 without a common term."""
        scores = np.zeros(len(postings))
        for term, times in Counter(question).items():
            if len(postings.term(term).rows):
                weight = times * self.idf(term, statistics)
                formula = TermWeight(weight, statistics.avgdl, self.k1, self.b)
                rows, weights = postings.weighted(term, formula)
                np.add.at(scores, rows, weights)
        return scores

    def idf(self, term: str, statistics: CorpusStatistics) -> float:
        """Lucene's idf, see `idf_lucene`; `name_weight` of it for a name."""
        return idf_lucene(statistics.df[term], statistics.n_docs) * name_weight(term)

    def norms(self, lengths: Ids, avgdl: float) -> Doubles:
        """The `length_norm` of passages of these lengths."""
        return length_norm(lengths / avgdl, self.k1, self.b)


USUAL = BM25()


def bm25_index(
    postings: LivePostings,
    places: Places,
    corpus: StatisticsSource | None = None,
    weighting: BM25 = USUAL,
) -> PostingsIndex:
    """The index of the ranking `bm25`."""
    return PostingsIndex(postings, weighting, places, corpus, saturation=weighting)


def bm25_retriever(snapshot: Snapshot, analyzer: Analyzer, weighting: BM25 = USUAL) -> Stage[Terms]:
    """The retriever `bm25` over a snapshot."""
    index = bm25_index(snapshot.postings(), snapshot.places, weighting=weighting)
    return lexical_stage("bm25", index, snapshot, analyzer)


class RankBM25Index:
    """Ranks live passages for lists of terms with the library rank_bm25; `IndexEmpty` without any word."""

    def __init__(
        self,
        postings: LivePostings,
        places: Places,
        corpus: StatisticsSource | None = None,
        weighting: BM25 = USUAL,
    ) -> None:
        from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

        statistics = (corpus or postings).all_statistics
        bags = [bag for bag, live in zip(_bags(postings), postings.live.tolist(), strict=True) if live]
        if not any(bags):
            raise IndexEmpty("no passage of the index holds a word")
        self._engine = BM25Okapi(bags, k1=weighting.k1, b=weighting.b)
        self._engine.avgdl = statistics.avgdl
        self._engine.idf = {t: idf_lucene(statistics.df[t], statistics.n_docs) for t in self._engine.idf}
        self._passage_ids = postings.passage_ids[postings.live]
        self._places = places

    def __len__(self) -> int:
        """The number of live passages."""
        return len(self._passage_ids)

    def search(self, queries: Sequence[Sequence[str]], k: int, among: Ids | None = None) -> list[Ranking]:
        """The best k passages for each list of terms, without passages of score 0."""
        check_k(k)
        allowed = rows_among(self._passage_ids, among)
        rankings = []
        for terms in queries:
            scores = self._engine.get_scores(terms)
            rows = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed)
            rankings.append(best(self._passage_ids[rows], scores[rows], k, self._places))
        return rankings


def _bags(postings: LivePostings) -> list[list[str]]:
    """The terms of each row, repeated as often as they occur, but not in the order of the text."""
    bags: list[list[str]] = [[] for _ in range(len(postings))]
    for pairs in postings.pairs():
        terms = [term.decode("utf-8") for term in pairs.vocabulary]
        columns = zip(pairs.terms.tolist(), pairs.rows.tolist(), pairs.counts.tolist(), strict=True)
        for number, row, count in columns:
            bags[row].extend([terms[number]] * count)
    return bags
