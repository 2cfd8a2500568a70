"""Encoders of texts: one unit vector per text (dense), or one unit vector per token (ColBERT).

A dense vector is the mean of the states of a transformer, then a linear layer if the model has one. The base
encodes questions and passages alike; the built-in token model (`dpr`) has a dense head for each side. A token
vector is a linear layer over the state of a token. Padding gives no vector.

Texts are sorted by length and batched by a token budget. Products run in the precision that suits the
processor; means, layers and normalisation run in float32. A long text is cut at the last position of the
model. Models of other projects are loaded by `third_party`.

Source of token vectors: Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via
Contextualized Late Interaction over BERT", SIGIR 2020, sections 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import torch
from torch import nn

from .batching import (
    Batcher,
    Ids,
    OnProgress,
    PackedTokens,
    Vectors,
    joined,
    no_progress,
    parts,
    prefetch,
)
from .load import base_tokenizer, n_positions, tuned_backbone
from .model_files import BUILTIN, is_base, is_token_model, model_digest, model_folder
from .packed_forward import Backbone, sequence_means
from .precision import pick_device
from .token_model import load_token_model
from .tokenizer import TokenRow, TokenRows, packed_rows, text_ids

if TYPE_CHECKING:
    from .third_party import ThirdPartyEncoder, ThirdPartyTokenEncoder

WINDOW = 1024  # texts that are sorted by length together while the next ones are tokenized
Row = TypeVar("Row", bound=Sized)  # the tokens of a text
Result = TypeVar("Result")


class BatchedEncoder(Generic[Row]):
    """A backbone that computes rows of similar length in batches, while the next rows are tokenized."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.device: torch.device = next(model.parameters()).device
        self.backbone = Backbone(model)
        self.batcher = Batcher.on(self.device.type)

    def computed(
        self,
        texts: Sequence[str],
        rows_of: Callable[[Sequence[str]], list[Row]],
        compute: Callable[[Sequence[Row]], Result],
        on_progress: OnProgress,
    ) -> Iterator[tuple[Ids, Result]]:
        """Batches as indices of texts with the results of `compute`; each text once."""
        done = 0
        starts = range(0, len(texts), WINDOW)
        windows = prefetch(starts, lambda start: rows_of(texts[start : start + WINDOW]))
        for start, rows in zip(starts, windows, strict=True):

            def excerpt(i: int, start: int = start) -> str:
                return repr(texts[start + i][:60])

            for batch, result in self.batches(rows, compute, excerpt):
                yield start + batch, result
                done += len(batch)
                on_progress(done)

    def batches(
        self, rows: Sequence[Row], compute: Callable[[Sequence[Row]], Result], describe: Callable[[int], str]
    ) -> Iterator[tuple[Ids, Result]]:
        """Batches as indices of rows with the results of `compute`, longest rows first; each row once."""
        lengths = [len(row) for row in rows]
        return self.batcher.run(lengths, lambda batch: compute([rows[i] for i in batch]), describe)


class TextEncoder(BatchedEncoder[list[int]]):
    """Encodes a text as one vector.

    digest: names the files that vectors depend on.
    heads: the linear layers of questions and of passages, None if both sides are encoded alike.
    width: the size of a vector.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        digest: str,
        heads: tuple[nn.Linear, nn.Linear] | tuple[None, None] = (None, None),
        max_length: int | None = None,
    ) -> None:
        super().__init__(model)
        self.tokenizer = tokenizer
        self.digest = digest
        self.heads = heads
        config: Any = model.config
        self.max_length = max_length or n_positions(model) or config.max_position_embeddings
        self.width: int = heads[0].out_features if heads[0] else config.hidden_size

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """(n, width) float32, rows unit-norm, in the order of the texts."""
        return self._encode(texts, self.heads[0], no_progress)

    def encode_passages(self, texts: Sequence[str], on_progress: OnProgress = no_progress) -> Vectors:
        """(n, width) float32, rows unit-norm, in the order of the texts; `on_progress` gets the count done.

        A row does not depend on the texts beside it: its cosine in any two batchings is at least 0.9999.
        """
        return self._encode(texts, self.heads[1], on_progress)

    def _encode(self, texts: Sequence[str], head: nn.Linear | None, on_progress: OnProgress) -> Vectors:
        out = np.zeros((len(texts), self.width), dtype=np.float32)

        def rows_of(window: Sequence[str]) -> list[list[int]]:
            return text_ids(self.tokenizer, window, self.max_length)

        def compute(rows: Sequence[list[int]]) -> Vectors:
            return self._forward(rows, head)

        for batch, vectors in self.computed(texts, rows_of, compute, on_progress):
            out[batch] = vectors
        return out

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]], head: nn.Linear | None) -> Vectors:
        tokens = PackedTokens.of(rows)
        pooled = sequence_means(self.backbone.states(tokens), tokens.lengths)  # (B, H) float32
        return _unit_vectors(head(pooled) if head else pooled)


class TokenEncoder(BatchedEncoder[TokenRow]):
    """Encodes a text as one vector per token.

    digest: names the files that vectors depend on.
    width: the size of a vector.
    """

    def __init__(self, model: nn.Module, projection: nn.Linear, rows: TokenRows, digest: str) -> None:
        super().__init__(model)
        self.projection = projection
        self.rows = rows
        self.digest = digest
        self.width: int = projection.out_features

    def encode_questions(self, texts: Sequence[str]) -> list[Vectors]:
        """For each question (m, width) float32, rows unit-norm, m at least 1."""
        return self._encode(texts, no_progress)

    def encode_passages(
        self, texts: Sequence[str], on_progress: OnProgress = no_progress
    ) -> tuple[Vectors, Ids]:
        """The vectors (T, width) float32 of all texts in order, and the number of vectors per text (n,).

        Rows are unit-norm, each text has at least one; `on_progress` gets the count of texts done. A row does
        not depend on the texts beside it: its cosine in any two batchings is at least 0.9999.
        """
        return joined(self._encode(texts, on_progress), self.width)

    def _encode(self, texts: Sequence[str], on_progress: OnProgress) -> list[Vectors]:
        out: list[Vectors] = [np.empty(0, np.float32)] * len(texts)
        for batch, vectors in self.computed(texts, self.rows.of, self._forward, on_progress):
            for i, rows in zip(batch, vectors, strict=True):
                out[i] = rows
        return out

    @torch.inference_mode()
    def _forward(self, rows: Sequence[TokenRow]) -> list[Vectors]:
        tokens, places = packed_rows(rows)
        states = self.backbone.states(tokens)  # (all tokens, H)
        states = states[torch.from_numpy(places).to(states.device)]
        vectors = _unit_vectors(self.projection(states.float()))  # (T, width)
        return parts(vectors, [len(row.places) for row in rows])


def load_encoder(name: str = "base", device: str | None = None) -> TextEncoder | ThirdPartyEncoder:
    """The dense encoder of a model named as in `model_files`, by default on the best device.

    ModelNotFound or ModelRejected for a model that is missing, unsafe or not an encoder.
    """
    target = pick_device(device)
    if is_base(name):
        backbone, _ = tuned_backbone()
        return TextEncoder(backbone.to(target), base_tokenizer(backbone), model_digest(name))
    folder = model_folder(name)
    if not is_token_model(folder):
        from .third_party import ThirdPartyEncoder

        return ThirdPartyEncoder.load(folder, target)
    model = load_token_model(folder)
    return TextEncoder(
        model.backbone.to(target),
        base_tokenizer(model.backbone),
        model_digest(name),
        (model.question_head.to(target), model.passage_head.to(target)),
        model.settings.max_length,
    )


def load_token_encoder(
    name: str = BUILTIN, device: str | None = None
) -> TokenEncoder | ThirdPartyTokenEncoder:
    """The late-interaction encoder of a model named as in `model_files`, by default on the best device.

    ModelNotFound or ModelRejected for a model that is missing, unsafe or not a late-interaction model.
    """
    folder = model_folder(name, "token-encoder")
    target = pick_device(device)
    if not is_token_model(folder):
        from .third_party import ThirdPartyTokenEncoder

        return ThirdPartyTokenEncoder.load(folder, target)
    model = load_token_model(folder)
    limits = [n for n in (model.settings.max_length, n_positions(model.backbone)) if n is not None]
    rows = TokenRows(base_tokenizer(model.backbone), min(limits), model.settings.skiplist)
    digest = model_digest(name, "token-encoder")
    return TokenEncoder(model.backbone.to(target), model.projection.to(target), rows, digest)


def _unit_vectors(values: torch.Tensor) -> Vectors:
    """The rows at length 1, as an array."""
    vectors: Vectors = nn.functional.normalize(values, dim=1).cpu().numpy()
    return vectors
