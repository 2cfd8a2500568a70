"""A single way to rank: an index, and what makes of questions that which it ranks by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit

from ..index import Snapshot
from ..index.protocol import Index, Ranking
from .hits import check_questions, hits_of

Queries = TypeVar("Queries")


class Stage(Generic[Queries]):
    """Ranks the passages that its index holds; others are not found. Its scores in a hit have its name."""

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
        """For each question its best k hits; `VectorRejected` when a vector of it is not of length 1."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""
        check_questions(questions, k)
        return self._index.search(self._queries_of(questions), k, among) if questions else []
