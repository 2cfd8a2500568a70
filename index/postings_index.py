"""Lexical search: the live postings, ranked by a weighting that is handed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .live_postings import LivePostings
from .protocol import Places, Ranking
from .ranking import best, check_k, promising, rows_among
from .statistics import CorpusStatistics


class Weighting(Protocol):
    """A formula that scores passages for a question: BM25, the cosine of TF-IDF vectors."""

    def scores(
        self, question: Sequence[str], postings: LivePostings, statistics: CorpusStatistics
    ) -> NDArray[np.float64]:
        """One score a row of `postings`, 0 for rows that share no term with the question.

        Contributions are added in float64 in the order of the question's terms, so that the score of a
        passage does not depend on how passages are spread over segments.
        """


class PostingsIndex:
    """Ranks live passages for lists of terms; a passage with score 0 is not found."""

    def __init__(self, postings: LivePostings, weighting: Weighting, places: Places) -> None:
        self._postings = postings
        self._weighting = weighting
        self._places = places

    def __len__(self) -> int:
        """How many live passages can be found."""
        return int(self._postings.live.sum())

    def search(
        self,
        queries: Sequence[Sequence[str]],
        k: int,
        among: NDArray[np.int64] | None = None,
        statistics: CorpusStatistics | None = None,
    ) -> list[Ranking]:
        """For each list of terms its best k passages, of those `among` when given.

        `statistics` are those of a larger corpus that this index is a part of; without them, its own, which
        `among` does not change.
        """
        check_k(k)
        allowed = rows_among(self._postings.passage_ids, among)
        return [self._search(terms, k, allowed, statistics) for terms in queries]

    def _search(
        self,
        terms: Sequence[str],
        k: int,
        allowed: NDArray[np.bool_] | None,
        statistics: CorpusStatistics | None,
    ) -> Ranking:
        corpus = statistics or self._postings.statistics(set(terms))
        scores = self._weighting.scores(terms, self._postings, corpus)
        if allowed is not None:
            scores = np.where(allowed, scores, 0.0)
        found = promising(scores, k)
        return best(self._postings.passage_ids[found], scores[found], k, self._places)
