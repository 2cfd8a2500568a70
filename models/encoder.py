"""Texts become unit vectors: a transformer, the mean over its states, a linear layer if the model has one.

The base encodes questions and passages alike; the built-in student (`dpr`) has a dense head for each side.
Any other model is loaded by sentence-transformers (`foreign`). Texts are sorted by length and batched by a
token budget; products run in the precision that suits the processor, the mean and all that follows in
float32. A text longer than the positions of the model is cut there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .batching import BUDGETS, Batcher, PackedTokens, Vectors, no_progress, prefetch
from .load import base_tokenizer, n_positions, tuned_backbone
from .model_files import is_base, is_student, model_digest, model_folder
from .packed_forward import Backbone, sequence_means
from .precision import pick_device
from .student import load_student
from .tokenizer import text_ids

if TYPE_CHECKING:
    from .third_party import ForeignEncoder

WINDOW = 1024  # texts that are sorted by length together while the next ones are tokenized
Row = TypeVar("Row", bound=Sized)  # the tokens of a text
Computed = tuple[NDArray[np.int64], Vectors]


class BatchedEncoder(Generic[Row]):
    """A backbone, computed in batches of rows of similar length; the next rows are tokenized meanwhile."""

    def __init__(self, model: nn.Module, batch_tokens: int | None = None) -> None:
        self.model = model
        self.device: torch.device = next(model.parameters()).device
        self.backbone = Backbone(model)
        self.batcher = Batcher(batch_tokens or BUDGETS.get(self.device.type, BUDGETS["cpu"]))

    def windows(
        self,
        texts: Sequence[str],
        rows_of: Callable[[Sequence[str]], list[Row]],
        compute: Callable[[Sequence[Row]], Vectors],
    ) -> Iterator[tuple[int, list[Row], Iterator[Computed]]]:
        """For each window of texts the number of its first text, its rows, and its batches."""
        starts = range(0, len(texts), WINDOW)
        for first, rows in prefetch(starts, lambda at: (at, rows_of(texts[at : at + WINDOW]))):

            def excerpt(i: int, first: int = first) -> str:
                return repr(texts[first + i][:60])

            yield first, rows, self.batches(rows, compute, excerpt)

    def batches(
        self, rows: Sequence[Row], compute: Callable[[Sequence[Row]], Vectors], describe: Callable[[int], str]
    ) -> Iterator[Computed]:
        """Batches as index arrays with their vectors, longest rows first; each row once."""
        lengths = [len(row) for row in rows]
        return self.batcher.run(lengths, lambda batch: compute([rows[i] for i in batch]), describe)


class TextEncoder(BatchedEncoder[list[int]]):
    """Encodes texts; `digest` names all that vectors depend on, `width` is the size of a vector.

    `heads` are the linear layers of questions and of passages, None if both sides are encoded alike.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        digest: str,
        heads: tuple[nn.Linear, nn.Linear] | None = None,
        max_length: int | None = None,
        batch_tokens: int | None = None,
    ) -> None:
        super().__init__(model, batch_tokens)
        self.tokenizer, self.digest, self.heads = tokenizer, digest, heads
        config: Any = model.config
        self.max_length = max_length or n_positions(model) or config.max_position_embeddings
        self.width: int = heads[0].out_features if heads else config.hidden_size

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """(n, width) float32, rows unit-norm, in the order of the texts."""
        return self._encode(texts, self.heads[0] if self.heads else None, no_progress)

    def encode_passages(
        self, texts: Sequence[str], on_progress: Callable[[int], None] = no_progress
    ) -> Vectors:
        """(n, width) float32, rows unit-norm, in the order of the texts; `on_progress` gets the count done.

        A row does not depend on the texts beside it: cosine at least 0.9999 between any two batchings.
        """
        return self._encode(texts, self.heads[1] if self.heads else None, on_progress)

    def _encode(
        self, texts: Sequence[str], head: nn.Linear | None, on_progress: Callable[[int], None]
    ) -> Vectors:
        out, done = np.zeros((len(texts), self.width), dtype=np.float32), 0

        def rows_of(part: Sequence[str]) -> list[list[int]]:
            return text_ids(self.tokenizer, part, self.max_length)

        for first, _, batches in self.windows(texts, rows_of, lambda rows: self._forward(rows, head)):
            for batch, vectors in batches:
                out[first + batch] = vectors
                done += len(batch)
                on_progress(done)
        return out

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]], head: nn.Linear | None) -> Vectors:
        tokens = PackedTokens.of(rows)
        pooled = sequence_means(self.backbone.states(tokens), tokens.lengths)  # (B, H) float32
        vectors: Vectors = unit(head(pooled) if head else pooled).cpu().numpy()
        return vectors


def unit(vectors: torch.Tensor) -> torch.Tensor:
    """The rows at length 1."""
    return nn.functional.normalize(vectors, dim=1)


def load_encoder(name: str = "base", device: str | None = None) -> TextEncoder | ForeignEncoder:
    """The dense encoder of a model named as in `locate`, on the device of that name or the best one.

    ModelNotFound or ModelRejected for a model that is missing, unsafe or not an encoder.
    """
    on = pick_device(device)
    if is_base(name):
        backbone, _ = tuned_backbone()
        return TextEncoder(backbone.to(on), base_tokenizer(backbone), model_digest(name))
    folder = model_folder(name)
    if not is_student(folder):
        from .third_party import ForeignEncoder

        return ForeignEncoder.load(folder, on)
    student = load_student(folder)
    heads = student.question_head.to(on), student.passage_head.to(on)
    tokenizer = base_tokenizer(student.backbone)
    return TextEncoder(
        student.backbone.to(on), tokenizer, model_digest(name), heads, student.settings.max_length
    )
