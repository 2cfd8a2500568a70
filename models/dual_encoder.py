"""Two encoders that meet in one space: questions go through one tower, passages through the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import ModelRejected

from .encoder import TextEncoder
from .sides import digest_of, towers_of


class DualEncoder:
    """Encodes questions by `question` and passages by `passage`; `digest` names both."""

    def __init__(self, question: TextEncoder, passage: TextEncoder, digest: str) -> None:
        if question.width != passage.width:
            raise ModelRejected(
                f"vectors of questions have {question.width} numbers and those of passages {passage.width}: "
                "they are not two sides of one model"
            )
        self.question, self.passage, self.digest = question, passage, digest
        self.width = passage.width

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, width) float32, rows unit-norm, in the order of the texts."""
        return self.question.encode(texts)

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """(n, width) float32, rows unit-norm, in the order of the texts; `report` hears how many are done."""
        return self.passage.encode(texts, report)

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n,) int32: how many code points of each passage, from its start, `encode_passages` sees."""
        return self.passage.covered(texts)


SearchEncoder = TextEncoder | DualEncoder


def load_encoder(name: str = "base", device: str | None = None) -> SearchEncoder:
    """The encoder of a model named as `sides` says, on the device named or the best there is.

    A `TextEncoder` when both sides are the same, else a `DualEncoder`; a transformer that both sides share is
    loaded once. ModelNotFound or ModelRejected for what is missing, unsafe, or does not fit.
    """
    question, passage = towers_of(name)
    of_passages = TextEncoder.of_tower(passage, "passage", device)
    if question == passage and not passage.inner_product:
        return of_passages
    shared = of_passages if question.weights == passage.weights else None
    of_questions = TextEncoder.of_tower(question, "question", device, shared)
    return DualEncoder(of_questions, of_passages, digest_of(question, passage))
