"""A single ranking (an index, the function that turns questions into its queries, the hits), and fusion.

Reciprocal rank fusion makes one of several rankings of the same passages:

    score(d) = sum over the rankings that hold d of  1 / (c + rank of d)

Only ranks count, so scores of different scales need no calibration. Deviation: while vectors are being made,
a passage without one counts in that ranking as it does on average in the others, else it would come last.

Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009, with their c = 60.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import chain
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import QuestionEmpty
from spanwise.types import Hit

from ..index import Snapshot
from ..index.analysis import Analyzer
from ..index.protocol import Index, Places, Ranking
from ..index.top_k import best
from .protocol import Ranker

Queries = TypeVar("Queries")
Terms = Sequence[Sequence[str]]  # of each question

C = 60
_DEPTH = 100  # each stage of a fusion ranks at least this many passages


class Stage(Generic[Queries]):
    """A retriever over one index; only passages in that index are found. `name` is the key of its scores."""

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

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits; `VectorRejected` for a question without a unit vector."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""
        check_questions(questions, k)
        return self._index.search(self._queries_of(questions), k, among) if questions else []

    def lacking(self, question: str, passage_ids: Collection[int]) -> set[int]:
        """Those of the passages that have no vector yet."""
        if not self._is_partial or not passage_ids:
            return set()
        [found] = self.rank([question], len(passage_ids), np.array(sorted(passage_ids), np.int64))
        return set(passage_ids) - set(found.passage_ids.tolist())


def lexical_stage(name: str, index: Index[Terms], snapshot: Snapshot, analyzer: Analyzer) -> Stage[Terms]:
    """Passages that share terms with the question; a question of stop words alone is searched by them."""

    def terms_of(questions: Sequence[str]) -> Terms:
        return [analyzer.question_terms(question) for question in questions]

    return Stage(name, terms_of, index, snapshot)


def check_questions(questions: Sequence[str], k: int) -> None:
    """ValueError for k below 1, QuestionEmpty for a question of white space."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    for question in questions:
        if not question.strip():
            raise QuestionEmpty(f"the question is empty: {question!r}")


def hits_of(rankings: Sequence[Ranking], snapshot: Snapshot, stage: str) -> list[list[Hit]]:
    """Rankings as hits; each passage is read once for all questions. `stage` names the score."""
    wanted = sorted({number for ranking in rankings for number in ranking.passage_ids.tolist()})
    passages = dict(zip(wanted, snapshot.cached_passages(wanted), strict=True))
    return [
        [
            Hit(passages[number], score, rank, {stage: score})
            for rank, (number, score) in enumerate(
                zip(ranking.passage_ids.tolist(), ranking.scores.tolist(), strict=True), start=1
            )
        ]
        for ranking in rankings
    ]


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

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits; a stage that finds nothing takes no part.

        With `among` every stage ranks those passages alone, so that ranks count among them.
        """
        check_questions(questions, k)
        stages = [stage.rank(questions, max(k, _DEPTH), among) for stage in self._stages]
        rankings = list(zip(*stages, strict=True))  # one a stage for each question
        fused = [
            fuse(found, k, self._snapshot.places, self._lacking(question, found))
            for question, found in zip(questions, rankings, strict=True)
        ]
        hits = hits_of(fused, self._snapshot, self.name)
        return [self._with_stages(*one) for one in zip(hits, rankings, strict=True)]

    def _lacking(self, question: str, rankings: Sequence[Ranking]) -> list[set[int]]:
        """For each stage the passages of the other stages that have no vector for it yet."""
        every = {number for ranking in rankings for number in ranking.passage_ids.tolist()}
        return [
            stage.lacking(question, every) if isinstance(stage, Stage) else set() for stage in self._stages
        ]

    def _with_stages(self, hits: Sequence[Hit], rankings: Sequence[Ranking]) -> list[Hit]:
        """The hits with the scores that the stages gave them before that of the fusion."""
        tables = {
            stage.name: dict(zip(one.passage_ids.tolist(), one.scores.tolist(), strict=True))
            for stage, one in zip(self._stages, rankings, strict=True)
        }
        return [
            replace(
                hit,
                scores={
                    name: found[hit.passage.id] for name, found in tables.items() if hit.passage.id in found
                }
                | {self.name: hit.score},
            )
            for hit in hits
        ]


def fuse(
    rankings: Sequence[Ranking], k: int, places: Places, lacking: Sequence[Collection[int]] = ()
) -> Ranking:
    """The best k passages of several rankings, scored by reciprocal ranks, ties by (document id, start).

    `lacking` are the passages that each ranking cannot hold.
    """
    totals: dict[int, float] = {}
    for ranking in rankings:
        for rank, number in enumerate(ranking.passage_ids.tolist(), start=1):
            totals[number] = totals.get(number, 0.0) + 1 / (C + rank)
    for number in set(chain.from_iterable(lacking)):
        n_able = sum(number not in one for one in lacking)
        totals[number] *= len(rankings) / n_able
    ids, scores = np.array(list(totals), np.int64), np.array(list(totals.values()), np.float64)
    return best(ids, scores, k, places)
