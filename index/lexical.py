"""Lexical search: ranking of live passages by a weighting, in numpy or by compiled code."""

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

ROWS_PER_QUESTION = (
    2**14
)  # rows that numpy would go through in the time it takes for a question to be prepared
COMPILED = PostponedImport("spanwise.index.maxscore", budget=2**26)  # rows that numpy went through


class Weighting(Protocol):
    """A formula that scores passages for a question: BM25, the cosine of TF-IDF vectors."""

    def scores(
        self, question: Sequence[str], postings: LivePostings, statistics: CorpusStatistics
    ) -> Doubles:
        """One score a row of `postings`, 0 for rows that share no term with the question.

        Contributions are added in float64 in the order of the question's terms, so that the score of a
        passage does not depend on how passages are spread over segments.
        """


class PostingsIndex:
    """Ranks live passages for lists of terms; a passage with score 0 is not found.

    Statistics are those of `corpus`: by default of the postings themselves. numpy scores every row. After
    many questions, or for many at once, compiled code pays off; it ranks by a `saturation` alone, and loading
    it takes about a second.
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
        """For each list of terms its best k passages; `among` does not change the statistics."""
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
        found = promising(scores, k)
        return best(self._postings.passage_ids[found], scores[found], k, self._places)
