"""Retrieval by what a model makes of questions and passages: an encoder in front of an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit

from ..index import Snapshot
from ..index.protocol import Index, Ranking
from .hits import check_questions, hits_of

Queries = TypeVar("Queries")
Encoded = TypeVar("Encoded", covariant=True)


class QuestionEncoder(Protocol[Encoded]):
    """Makes of questions what an index ranks by."""

    def encode_questions(self, texts: Sequence[str]) -> Encoded:
        """One vector, or the vectors of its tokens, for each question."""


class EncodedRetriever(Generic[Queries]):
    """Ranks the passages that the model has encoded; others are not found."""

    name: str

    def __init__(self, index: Index[Queries], encoder: QuestionEncoder[Queries], snapshot: Snapshot) -> None:
        self._index = index
        self._encoder = encoder
        self._snapshot = snapshot

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits; `VectorRejected` when a vector of it is not of length 1."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""
        check_questions(questions, k)
        return self._index.search(self._encoder.encode_questions(questions), k, among) if questions else []
