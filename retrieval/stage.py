"""A single ranking: an index, the function that turns questions into its queries, and the hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit

from ..index import Snapshot
from ..index.analysis import Analyzer
from ..index.protocol import Index, Ranking

Queries = TypeVar("Queries")
Terms = Sequence[Sequence[str]]  # of each question


class Stage(Generic[Queries]):
    """A retriever over one index; only passages in that index are found. `name` is the key of its scores."""

    def __init__(
        self,
        name: str,
        queries_of: Callable[[Sequence[str]], Queries],
        index: Index[Queries],
        snapshot: Snapshot,
    ) -> None:
        self.name = name
        self._queries_of = queries_of
        self._index = index
        self._snapshot = snapshot

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits; `VectorRejected` for a question without a unit vector."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""
        check_questions(questions, k)
        return self._index.search(self._queries_of(questions), k, among) if questions else []


def lexical_stage(name: str, index: Index[Terms], snapshot: Snapshot, analyzer: Analyzer) -> Stage[Terms]:
    """Passages that share terms with the question; a question of stop words alone is searched by them."""

    def terms_of(questions: Sequence[str]) -> Terms:
        return [analyzer.question_terms(question) for question in questions]

    return Stage(name, terms_of, index, snapshot)


def check_questions(questions: Sequence[str], k: int) -> None:
    """ValueError for k below 1 and for a question of white space."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    for question in questions:
        if not question.strip():
            raise ValueError(f"the question is empty: {question!r}")


def hits_of(rankings: Sequence[Ranking], snapshot: Snapshot, stage: str) -> list[list[Hit]]:
    """Rankings as hits; each passage is read once for all questions. `stage` names the score."""
    wanted = sorted({number for ranking in rankings for number in ranking.passage_ids.tolist()})
    passages = dict(zip(wanted, snapshot.found(wanted), strict=True))
    return [
        [
            Hit(passages[number], score, rank, {stage: score})
            for rank, (number, score) in enumerate(
                zip(ranking.passage_ids.tolist(), ranking.scores.tolist(), strict=True), start=1
            )
        ]
        for ranking in rankings
    ]
