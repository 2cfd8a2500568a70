"""TF-IDF vectors, compared by their cosine.

    weight(t, d) = (1 + lg tf) * lg(N / df)        for tf > 0, else 0          (lg: base 10)
    score(q, d)  = sum over t of weight(t, q) * weight(t, d) / (|q| * |d|)

The question is weighted like a passage. A term that is in every passage has weight 0. A zero vector has score
0 with every other vector. Terms that are in no passage are left out of the question's vector.

Source: Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008, sections 6.2 to 6.4
(ltc.ltc).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10, sqrt

import numpy as np

from ..index.lexical import PostingsIndex
from ..index.live_postings import CorpusStatistics, LivePostings, StatisticsSource
from ..index.protocol import Doubles, Ids, Places
from .stage import name_weight


def idf_lg(df: int, n_docs: int) -> float:
    """lg(N / df); 0 for a term in every passage or in none.

    >>> round(idf_lg(3, 4), 6)
    0.124939
    """
    return log10(n_docs / df) if df else 0.0


def log_weights(terms: Sequence[str], statistics: CorpusStatistics) -> dict[str, float]:
    """(1 + lg tf) * idf * `name_weight` for each distinct term, in order of first occurrence."""
    return {
        term: (1 + log10(tf)) * idf_lg(statistics.df.get(term, 0), statistics.n_docs) * name_weight(term)
        for term, tf in Counter(terms).items()
    }


def norm(weights: Mapping[str, float]) -> float:
    """The Euclidean length of a sparse vector."""
    return sqrt(sum(weight * weight for weight in weights.values()))


def document_norms(postings: LivePostings, statistics: CorpusStatistics) -> Doubles:
    """The length of every row's vector, (rows,) float64; `statistics` must cover all terms.

    Squares are added in byte order of the terms, so the result does not depend on the segments.
    """
    squares = np.zeros(len(postings))
    for pairs in postings.pairs():
        terms = (term.decode("utf-8") for term in pairs.vocabulary)
        idf = np.array([idf_lg(statistics.df.get(term, 0), statistics.n_docs) for term in terms])
        weights = (1 + np.log10(pairs.counts)) * idf[pairs.terms]
        squares += np.bincount(pairs.rows, weights * weights, minlength=len(postings))
    return np.sqrt(squares)


@dataclass(frozen=True, slots=True)
class TermProduct:
    """The product of a term's weights in the question and in a passage.

    weight: the term's weight in the question.
    idf: its idf, for the weight in a passage.
    """

    weight: float
    idf: float

    def __call__(self, tf: Doubles, lengths: Ids) -> Doubles:
        """weight * (1 + lg tf) * idf; `TfIdf.scores` divides by the lengths."""
        return self.weight * (1 + np.log10(tf)) * self.idf


@dataclass(frozen=True, slots=True)
class TfIdf:
    """The weighting of TF-IDF.

    norms: the `document_norms` of the searched postings, (rows,) float64.
    """

    norms: Doubles

    def scores(
        self, question: Sequence[str], postings: LivePostings, statistics: CorpusStatistics
    ) -> Doubles:
        """The cosine of every row with the question, 0 without a common term of non-zero weight."""
        scores = np.zeros(len(postings))
        weights = log_weights(question, statistics)
        for term, weight in weights.items():
            if weight:
                idf = idf_lg(statistics.df[term], statistics.n_docs)
                rows, products = postings.weighted(term, TermProduct(weight, idf))
                np.add.at(scores, rows, products)
        lengths = norm(weights) * self.norms
        return scores / np.where(lengths > 0, lengths, 1)


def tfidf_index(
    postings: LivePostings, places: Places, corpus: StatisticsSource | None = None
) -> PostingsIndex:
    """The index of the ranking `tfidf`; the norms of all passages are computed here."""
    weighting = TfIdf(document_norms(postings, (corpus or postings).all_statistics))
    return PostingsIndex(postings, weighting, places, corpus)
