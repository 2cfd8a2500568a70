"""Protocols of retrieval: retrievers and the models that they use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from spanwise.types import Hit

from ..index.protocol import Floats, Ids, Ranking
from ..models.batching import OnProgress


class Retriever(Protocol):
    """Ranks passages for questions; `name` selects it: "bm25", "dense", "bm25+dense", …"""

    name: str

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question, best first; ties are ordered by (document id, start).

        `among`, ascending passage ids, restricts the search to these passages, as in `Index.search`.
        `ValueError` for k below 1; `QuestionEmpty` for an empty question.
        """


class Ranker(Protocol):
    """A retriever that can rank without reading the passages."""

    name: str

    def rank(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[Ranking]:
        """The ids and scores of the hits of `search`, for each question."""


class Scorer(Protocol):
    """A model that reads a question and a passage together, such as a cross-encoder.

    digest: covers everything that the scores depend on.
    """

    digest: str

    def score(
        self,
        questions: Sequence[str],
        passages: Sequence[Sequence[str]],
        on_progress: OnProgress = ...,
    ) -> list[Floats]:
        """The scores of each question's passages, (n,) float32, finite; higher is better.

        `on_progress` receives the number of scored pairs.
        """


class Encoder(Protocol):
    """A model that gives one vector per text."""

    @property
    def digest(self) -> str:
        """Covers everything that vectors depend on: weights, pooling, layers, prompts, similarity."""

    @property
    def width(self) -> int:
        """The number of dimensions."""

    def encode_questions(self, texts: Sequence[str]) -> Floats:
        """One unit vector per question: (len(texts), width) float32."""

    def encode_passages(self, texts: Sequence[str], on_progress: OnProgress = ...) -> Floats:
        """One unit vector per passage: (len(texts), width) float32; `on_progress` as in `TokenEncoder`."""


class TokenEncoder(Protocol):
    """A model that gives one unit vector per token; every text has at least one.

    digest: covers everything that vectors depend on.
    width: the number of dimensions.
    """

    digest: str
    width: int

    def encode_questions(self, texts: Sequence[str]) -> list[Floats]:
        """The vectors of each question: (m, width) float32."""

    def encode_passages(self, texts: Sequence[str], on_progress: OnProgress = ...) -> tuple[Floats, Ids]:
        """The vectors of all passages in order, (T, width) float32, and the number of vectors of each.

        `on_progress` receives the number of encoded passages.
        """


@dataclass(frozen=True, slots=True)
class Encoders:
    """Loads encoders on first use.

    passages: loads the model with one vector per text.
    tokens: loads the model with one vector per token.
    """

    passages: Callable[[], Encoder]
    tokens: Callable[[], TokenEncoder]
