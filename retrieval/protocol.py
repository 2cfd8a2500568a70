"""What every retriever is, something that ranks passages for questions, and what encodes for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        for k below 1 and for an empty question.
        """


class Ranker(Protocol):
    """A retriever that can also tell which passages it finds without reading them."""

    name: str

    def rank(self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each question the ids and scores of the hits of `search`."""


class Scorer(Protocol):
    """A model that reads a question and a passage together. `digest` names all that scores depend on."""

    digest: str

    def score(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        report: Callable[[int], None] = ...,
    ) -> list[NDArray[np.float32]]:
        """For each question a score for each of its passages, (n,) float32, finite, higher being better.

        `report` hears how many pairs are done.
        """


class Encoder(Protocol):
    """A model with two sides, for questions and for passages, that may be one: vectors of `width` numbers.

    `digest` names all that vectors depend on, on both sides: weights, pooling, layers, prompts, similarity.
    """

    digest: str
    width: int

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a question: (len(texts), width) float32."""

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a passage: (len(texts), width) float32."""


class TokenEncoder(Protocol):
    """A model that gives a unit vector of `width` numbers for each token, of a question or of a passage.

    `digest` names all that vectors depend on. A text gives one vector at least, and padding none. The offsets
    of a text say for each of its vectors which code points it stands for, None for a marker or a [MASK].
    """

    digest: str
    width: int

    def encode_questions(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """The vectors of each question: (m, width) float32."""

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = ...
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of all passages, one's after another's, (T, width) float32, and how many of each.

        `report` hears how many passages are done.
        """

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """How many code points of each passage, from its start, are seen."""

    def question_offsets(self, text: str) -> list[tuple[int, int] | None]:
        """What each row of `encode_questions([text])` stands for."""

    def passage_offsets(self, text: str) -> list[tuple[int, int] | None]:
        """What each row of `encode_passages([text])` stands for."""
