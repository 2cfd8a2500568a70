"""Lexical search: a weighting ranks live passages, in numpy or in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from spanwise.postponed import PostponedImport

from .live_postings import CorpusStatistics, LivePostings, StatisticsSource
from .protocol import Doubles, Ids, Mask, Places, Ranking, TermLists
from .top_k import best, check_k, promising, rows_among

if TYPE_CHECKING:
    from .maxscore import MaxScore, Saturation

ROWS_PER_QUESTION = 2**14  # fixed cost of a question, in rows scanned
COMPILED = PostponedImport("spanwise.index.maxscore", budget=2**26)  # rows scanned by numpy


class Weighting(Protocol):
    """A formula that scores passages for a question, such as BM25 or the cosine of TF-IDF vectors."""

    def scores(
        self, question: Sequence[str], postings: LivePostings, statistics: CorpusStatistics
    ) -> Doubles:
        """One score per row of `postings`, 0 for rows that share no term with the question.

        Contributions are added in float64 in the order of the question's terms. So the score of a passage
        does not depend on how passages are spread over segments.
        """


class PostingsIndex:
    """Ranks live passages for lists of terms; passages with score 0 are left out.

    Statistics come from `corpus`, by default the postings themselves. numpy scores every row. Compiled code
    pays off after many questions, or for many at once. It needs a `saturation`, and loading it takes about a
    second.
    """

    def __init__(
        self,
        postings: LivePostings,
        weighting: Weighting,
        places: Places,
        corpus: StatisticsSource | None = None,
        saturation: Saturation | None = None,
    ) -> None:
        self._postings = postings
        self._weighting = weighting
        self._places = places
        self._corpus = corpus or postings
        self._saturation = saturation
        self._compiled: MaxScore | None = None

    def __len__(self) -> int:
        """The number of live passages that can be found."""
        return int(self._postings.live.sum())

    def search(self, queries: TermLists, k: int, among: Ids | None = None) -> list[Ranking]:
        """The best k passages for each list of terms; `among` does not change the statistics."""
        check_k(k)
        allowed = rows_among(self._postings.passage_ids, among)
        statistics = self._corpus.statistics(set(chain.from_iterable(queries)))
        work = len(queries) * (len(self._postings) + ROWS_PER_QUESTION)
        if self._saturation and not self._compiled and COMPILED.is_worth(work):
            from .maxscore import MaxScore  # loads numba

            self._compiled = MaxScore(self._postings, self._saturation)
        if self._compiled:
            return self._compiled.search(queries, k, allowed, statistics, self._places)
        return [self._search(terms, k, allowed, statistics) for terms in queries]

    def _search(
        self, terms: Sequence[str], k: int, allowed: Mask | None, statistics: CorpusStatistics
    ) -> Ranking:
        scores = self._weighting.scores(terms, self._postings, statistics)
        if allowed is not None:
            scores = np.where(allowed, scores, 0.0)
        rows = promising(scores, k)
        return best(self._postings.passage_ids[rows], scores[rows], k, self._places)
