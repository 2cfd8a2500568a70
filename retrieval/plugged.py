"""A retriever that is no part of this package, held to what every retriever promises.

What it gives is taken as a ranking of passages of the index: ids and scores. Text, places and the order of
equal scores come from the index itself, so that it can find the wrong passage and cannot make one up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import PluginFailed, SpanwiseError
from spanwise.types import Hit, Passage

from ..index import Snapshot
from ..index.protocol import Ranking
from ..index.ranking import best
from .hits import check_questions, hits_of


class Passages(Protocol):
    """What a retriever is made of: the passages of one commit, which stay what they are."""

    @property
    def n_passages(self) -> int:
        """How many there are."""

    def all_passages(self, passage_ids: Sequence[int] | None = None) -> Iterator[Passage]:
        """These passages, or all, ordered by document and place; read a few hundred at a time."""

    def passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in the order asked; `ValueError` for an id that is not there."""


class Searching(Protocol):
    """What the factory of a plug-in makes."""

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question at most k hits; only the passages and scores of the hits count.

        `among`, ascending passage ids, confines the search to them.
        """


RetrieverFactory = Callable[[Passages], Searching]


@dataclass(frozen=True, slots=True, eq=False)
class RetrieverSource:
    """How a retriever is made of passages, and what it is called when it fails.

    `state` names all that its rankings depend on beside the passages, None when that is not known.
    """

    label: str
    make: RetrieverFactory
    state: str | None = None


class PluggedRetriever:
    """The retriever of a source over a snapshot, as one of the single stages; `name` is that of its scores.

    PluginFailed when making it or asking it fails, and for what is no ranking of passages of the index.
    """

    def __init__(self, name: str, source: RetrieverSource, snapshot: Snapshot) -> None:
        self.name = name
        self._label, self._snapshot = source.label, snapshot
        try:
            self._searching = source.make(snapshot)
        except Exception as error:
            raise self._failed(error) from error

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits, with the passages of the index."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits, ties by (document id, start)."""
        check_questions(questions, k)
        try:
            found = [list(hits) for hits in self._searching.search(questions, k, among)]
        except Exception as error:
            raise self._failed(error) from error
        if len(found) != len(questions):
            raise self._broke(f"gave {len(found)} lists of hits for {len(questions)} questions")
        allowed = self._ids if among is None else frozenset(among.tolist())
        return [self._ranking(hits, k, allowed) for hits in found]

    def _ranking(self, hits: Sequence[Hit], k: int, allowed: frozenset[int]) -> Ranking:
        if len(hits) > k:
            raise self._broke(f"gave {len(hits)} hits where {k} were asked for")
        for hit in hits:
            self._check(hit, allowed)
        ids = [hit.passage.id for hit in hits]
        if len(set(ids)) != len(ids):
            raise self._broke("gave the same passage twice for one question")
        scores = np.array([hit.score for hit in hits], np.float64)
        return best(np.array(ids, np.int64), scores, k, self._snapshot.places)

    def _check(self, hit: Hit, allowed: frozenset[int]) -> None:
        if not (isinstance(hit, Hit) and isinstance(hit.passage, Passage)):
            raise self._broke(f"gave {hit!r:.60} where a Hit with a Passage was expected")
        if not (isinstance(hit.score, Real) and math.isfinite(hit.score)):
            raise self._broke(f"gave the score {hit.score!r}, which is no finite number")
        if hit.passage.id not in self._ids:
            raise self._broke(f"gave the passage {hit.passage.id!r}, which the index does not hold")
        if hit.passage.id not in allowed:
            raise self._broke(f"gave the passage {hit.passage.id}, which is not among those to be searched")

    @cached_property
    def _ids(self) -> frozenset[int]:
        return frozenset(self._snapshot.passage_ids().tolist())

    def _broke(self, what: str) -> PluginFailed:
        return PluginFailed(f"{self._label} {what}")

    def _failed(self, error: Exception) -> SpanwiseError:
        if isinstance(error, SpanwiseError):
            return error
        return self._broke(f"failed: {type(error).__name__}: {error}")
