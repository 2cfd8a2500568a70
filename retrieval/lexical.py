"""Retrieval by the words of a question: the analyzer in front of an index of terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit

from ..index import Snapshot
from ..index.analysis import Analyzer
from ..index.protocol import Index, Ranking
from .hits import check_questions, hits_of


class LexicalRetriever:
    """Ranks passages by the terms they share with the question; without one in common there is no hit."""

    def __init__(
        self, name: str, index: Index[Sequence[Sequence[str]]], snapshot: Snapshot, analyzer: Analyzer
    ) -> None:
        self.name = name
        self._index = index
        self._snapshot = snapshot
        self._analyzer = analyzer

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits; a question made only of stop words is searched by them."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""
        check_questions(questions, k)
        terms = [self._analyzer.question_terms(question) for question in questions]
        return self._index.search(terms, k, among)
