"""Single rankings over one index, and their fusion by reciprocal ranks.

    score(d) = sum over the rankings that hold d of  1 / (c + rank of d)

Only ranks count, so scores of different scales need no calibration. Deviation: a passage without a vector
gets the mean of its scores in the other rankings. Otherwise it would fall to the end while vectors are being
made.

Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009, with their c = 60.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np

from spanwise.errors import QuestionEmpty
from spanwise.types import Hit

from ..index.analysis import NAME, Analyzer
from ..index.protocol import Ids, Index, Places, Ranking
from ..index.snapshot import Snapshot
from ..index.top_k import best, check_k
from .protocol import Ranker

Queries = TypeVar("Queries")
Terms = Sequence[Sequence[str]]  # of each question

C = 60
NAME_WEIGHT = 0.2  # larger weights rank answers lower in real folders, where paths are vague
_DEPTH = 100  # each stage of a fusion ranks at least this many passages


class Stage(Generic[Queries]):
    """A retriever over one index; only passages in that index can be found. `name` is the key of its scores.

    `queries_of` turns questions into queries, one row or item for each. The queries of the last batch are
    cached, because fusion and deduplication search its questions again.
    """

    def __init__(
        self,
        name: str,
        queries_of: Callable[[Sequence[str]], Queries],
        index: Index[Queries],
        snapshot: Snapshot,
        needs_vectors: bool = False,
    ) -> None:
        self.name = name
        self._is_partial = needs_vectors and len(index) < snapshot.n_passages
        self._queries_of = queries_of
        self._index = index
        self._snapshot = snapshot
        self._last: tuple[dict[str, int], Any] = ({}, None)  # the row of each question, and the queries

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question; `VectorRejected` for a question without a unit vector."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[Ranking]:
        """The ids and scores of the hits of `search`, for each question."""
        check_questions(questions, k)
        return self._index.search(self._queries(questions), k, among) if questions else []

    def _queries(self, questions: Sequence[str]) -> Queries:
        rows, queries = self._last
        if len(questions) == 1 and questions[0] in rows:
            row = rows[questions[0]]
            return queries[row : row + 1]  # type: ignore[no-any-return]
        encoded = self._queries_of(questions)
        self._last = ({question: row for row, question in enumerate(questions)}, encoded)
        return encoded

    def lacking(self, question: str, passage_ids: Collection[int]) -> set[int]:
        """The passages among these that have no vector yet."""
        if not self._is_partial or not passage_ids:
            return set()
        [ranking] = self.rank([question], len(passage_ids), np.array(sorted(passage_ids), np.int64))
        return set(passage_ids) - set(ranking.passage_ids.tolist())


def lexical_stage(name: str, index: Index[Terms], snapshot: Snapshot, analyzer: Analyzer) -> Stage[Terms]:
    """Ranks passages whose text or path has terms of the question; stop words count if it has no others."""

    def terms_of(questions: Sequence[str]) -> Terms:
        terms = map(analyzer.question_terms, questions)
        return [[*some, *(NAME + term for term in dict.fromkeys(some))] for some in terms]

    return Stage(name, terms_of, index, snapshot)


def name_weight(term: str) -> float:
    """The weight of a term beside its idf: 1, but `NAME_WEIGHT` for a term of a path."""
    return NAME_WEIGHT if term.startswith(NAME) else 1.0


def check_questions(questions: Sequence[str], k: int) -> None:
    """Raise `ValueError` for k below 1, `QuestionEmpty` for a blank question."""
    check_k(k)
    for question in questions:
        if not question.strip():
            raise QuestionEmpty(f"the question is empty: {question!r}")


def hits_of(rankings: Sequence[Ranking], snapshot: Snapshot, stage: str) -> list[list[Hit]]:
    """The hits of rankings; each passage is read once for all questions. `stage` names the score."""
    passage_ids = sorted({number for ranking in rankings for number in ranking.passage_ids.tolist()})
    passages = dict(zip(passage_ids, snapshot.cached_passages(passage_ids), strict=True))
    return [
        [
            Hit(passages[number], score, rank, {stage: score})
            for rank, (number, score) in enumerate(_scores(ranking).items(), start=1)
        ]
        for ranking in rankings
    ]


def _scores(ranking: Ranking) -> dict[int, float]:
    """The score of each passage, best first."""
    return dict(zip(ranking.passage_ids.tolist(), ranking.scores.tolist(), strict=True))


class FusionRetriever:
    """Fuses the rankings of its stages; a hit keeps the score of each stage that found it.

    Only the passages of the fused hits are read.
    """

    def __init__(self, stages: Sequence[Ranker], snapshot: Snapshot) -> None:
        if len(stages) < 2:
            raise ValueError(f"a fusion needs at least two retrievers, not {len(stages)}")
        self.name = "+".join(stage.name for stage in stages)
        self._stages = tuple(stages)
        self._snapshot = snapshot

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question; a stage that finds nothing is left out.

        With `among` every stage ranks only those passages, so ranks are counted among them.
        """
        check_questions(questions, k)
        by_stage = [stage.rank(questions, max(k, _DEPTH), among) for stage in self._stages]
        by_question = list(zip(*by_stage, strict=True))
        fused = [
            fuse(rankings, k, self._snapshot.places, self._lacking(question, rankings))
            for question, rankings in zip(questions, by_question, strict=True)
        ]
        hits_by_question = hits_of(fused, self._snapshot, self.name)
        return [
            self._with_stages(hits, rankings)
            for hits, rankings in zip(hits_by_question, by_question, strict=True)
        ]

    def _lacking(self, question: str, rankings: Sequence[Ranking]) -> list[set[int]]:
        """For each stage, the passages found by other stages that have no vector for this one yet."""
        passage_ids = {number for ranking in rankings for number in ranking.passage_ids.tolist()}
        return [
            stage.lacking(question, passage_ids) if isinstance(stage, Stage) else set()
            for stage in self._stages
        ]

    def _with_stages(self, hits: Sequence[Hit], rankings: Sequence[Ranking]) -> list[Hit]:
        """The hits with the scores of all stages, then the score of the fusion."""
        tables = [(stage.name, _scores(each)) for stage, each in zip(self._stages, rankings, strict=True)]
        fused = []
        for hit in hits:
            number = hit.passage.id
            scores = {name: table[number] for name, table in tables if number in table}
            fused.append(replace(hit, scores={**scores, self.name: hit.score}))
        return fused


def fuse(
    rankings: Sequence[Ranking], k: int, places: Places, lacking: Sequence[Collection[int]] = ()
) -> Ranking:
    """The best k passages of several rankings, scored by reciprocal ranks, ties by (document id, start).

    `lacking`: for each ranking the passages that it cannot hold.
    """
    totals: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking.passage_ids.tolist(), start=1):
            totals[number] = totals.get(number, 0.0) + 1 / (C + rank)
    for number in set(chain.from_iterable(lacking)):
        n_able = sum(number not in absent for absent in lacking)
        totals[number] *= len(rankings) / n_able
    ids = np.array(list(totals), np.int64)
    scores = np.array(list(totals.values()), np.float64)
    return best(ids, scores, k, places)
