"""Retrieval by meaning: the vector of a question against the vectors of the passages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexEmpty, ModelMismatch
from spanwise.types import Hit

from ..index import Snapshot
from ..index.protocol import Index, Ranking
from .hits import check_questions, hits_of
from .protocol import Encoder


class DenseRetriever:
    """Ranks the passages that have a vector by their cosine with the question; others are not found."""

    name = "dense"

    def __init__(self, index: Index[NDArray[np.float32]], encoder: Encoder, snapshot: Snapshot) -> None:
        self._index = index
        self._encoder = encoder
        self._snapshot = snapshot

    @classmethod
    def build(cls, snapshot: Snapshot, encoder: Encoder, exact: bool = False) -> DenseRetriever:
        """Load the vectors of the encoder's model: `IndexEmpty` when none are stored, `ModelMismatch` when
        only those of other models are.

        The search runs where the encoder does; on a CPU a large collection is searched approximately, unless
        `exact`.
        """
        models = snapshot.vector_models()
        if not models:
            raise IndexEmpty("no passage has a vector yet: run `spanwise index FOLDER` to encode them")
        if encoder.digest not in models:
            raise ModelMismatch(
                f"the passages were encoded by {', '.join(sorted(models))}, not by {encoder.digest}: "
                "run `spanwise index FOLDER --model NAME` to encode them with this one"
            )
        device = str(getattr(encoder, "device", "cpu"))
        return cls(snapshot.vectors(encoder.digest, exact, device), encoder, snapshot)

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits; `VectorRejected` when its vector is not of length 1."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""
        check_questions(questions, k)
        return self._index.search(self._encoder.encode_questions(questions), k, among) if questions else []
