"""The contracts of retrieval: what ranks passages, and the models that rankings need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit

from ..index.protocol import Ranking


class Retriever(Protocol):
    """`name` is the spelling that selects it: "bm25", "dense", "bm25+dense", …"""

    name: str

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits, best first, ties by (document id, start).

        `among`, ascending passage ids, confines the search to them, as `Index.search` says. `ValueError`
        for k below 1 and for an empty question (QuestionEmpty).
        """


class Ranker(Protocol):
    """A retriever that can rank without reading the passages."""

    name: str

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""


class Scorer(Protocol):
    """A model that reads a question and a passage together; `digest` covers all that its scores depend on."""

    digest: str

    def score(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        on_progress: Callable[[int], None] = ...,
    ) -> list[NDArray[np.float32]]:
        """For each question a score for each of its passages, (n,) float32, finite, higher being better.

        `on_progress` receives the number of pairs done.
        """


class Encoder(Protocol):
    """A model that gives one vector of `width` numbers a text.

    `digest` covers all that vectors depend on: weights, pooling, layers, prompts, similarity.
    """

    digest: str
    width: int

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a question: (len(texts), width) float32."""

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = ...
    ) -> NDArray[np.float32]:
        """One unit vector a passage: (len(texts), width) float32; `on_progress` as in `TokenEncoder`."""


class TokenEncoder(Protocol):
    """A model that gives one unit vector of `width` numbers a token; a text has at least one."""

    digest: str
    width: int

    def encode_questions(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The vectors of each question: (m, width) float32."""

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = ...
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of all passages in order, (T, width) float32, and the number of vectors of each.

        `on_progress` receives the number of passages done.
        """


@dataclass(frozen=True, slots=True)
class Encoders:
    """Loads encoders on first use: `passages` gives one vector a text, `tokens` one vector a token."""

    passages: Callable[[], Encoder]
    tokens: Callable[[], TokenEncoder]
