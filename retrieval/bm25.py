"""Okapi BM25.

    score(q, d) = sum over the terms t of q of  idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * |d| / avgdl))

tf is how often t occurs in passage d, |d| the passage's length in terms. A term that the question repeats
counts once for each time. The factor k1 + 1 is kept: it changes no ranking and makes a term that occurs once
in a passage of average length weigh exactly its idf.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, section 3.5.
Deviation: Lucene's idf, with 1 + inside the logarithm. The classic idf is negative for a term of more than
half of the passages, and then a passage without any word of the question wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..index import Snapshot
from ..index.analysis import Analyzer
from ..index.live_postings import LivePostings
from ..index.postings_index import PostingsIndex
from ..index.statistics import CorpusStatistics
from .lexical import Terms, lexical_stage
from .stage import Stage

Number = TypeVar("Number", float, NDArray[np.float64])


def idf_lucene(df: int, n_docs: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)) for a term in n = `df` of N = `n_docs` passages; always positive.

    >>> round(idf_lucene(1, 4), 6)
    1.203973
    """
    return log(1 + (n_docs - df + 0.5) / (df + 0.5))


def tf_saturation(tf: Number, length_ratio: Number, k1: float, b: float) -> Number:
    """tf * (k1 + 1) / (tf + k1 * (1 - b + b * length_ratio)), with length_ratio = |d| / avgdl; below k1 + 1.

    >>> tf_saturation(2.0, 1.0, k1=1.2, b=0.75)
    1.375
    """
    return tf * (k1 + 1) / (tf + k1 * (1 - b + b * length_ratio))


@dataclass(frozen=True, slots=True)
class TermWeight:
    """What one term gives to a passage; `weight` is its idf, as often as the question holds the term."""

    weight: float
    avgdl: float
    k1: float
    b: float

    def __call__(self, tf: NDArray[np.float64], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """weight * tf_saturation for passages of these lengths that hold the term `tf` times."""
        return self.weight * tf_saturation(tf, lengths / self.avgdl, self.k1, self.b)


@dataclass(frozen=True, slots=True)
class BM25:
    """The weighting: `k1` says how fast repetition saturates, `b` how much length counts, from 0 to 1."""

    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self) -> None:
        """Refuse constants for which the formula has no meaning."""
        if not self.k1 >= 0:
            raise ValueError(f"k1 must be at least 0, not {self.k1}")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b must be from 0 to 1, not {self.b}")

    def scores(
        self, question: Sequence[str], postings: LivePostings, statistics: CorpusStatistics
    ) -> NDArray[np.float64]:
        """The score of every row, 0 without a common term."""
        scores, avgdl = np.zeros(len(postings)), statistics.avgdl
        for term, times in Counter(question).items():
            if len(postings.find(term)[0]):
                idf = idf_lucene(statistics.df[term], statistics.n_docs)
                rows, weights = postings.weighted(term, TermWeight(times * idf, avgdl, self.k1, self.b))
                np.add.at(scores, rows, weights)
        return scores


def bm25_retriever(snapshot: Snapshot, analyzer: Analyzer, weighting: BM25 | None = None) -> Stage[Terms]:
    """The retriever `bm25` over a snapshot."""
    index = PostingsIndex(snapshot.postings(), weighting or BM25(), snapshot.places)
    return lexical_stage("bm25", index, snapshot, analyzer)
