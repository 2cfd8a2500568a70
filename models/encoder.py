"""Texts become unit vectors: a transformer, pooling, linear layers if the model has them, L2 normalisation.

What a model's folder asks for is read by `sides`. Texts are sorted by length
and batched by token budget; matrix products run in bf16 where the hardware has it, pooling and
normalisation always in float32. A text longer than the model's positions is cut there; `covered` says where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from spanwise.errors import ModelRejected

from .batching import Batcher
from .loaded_tower import load_tower
from .pooling import token_weights
from .precision import autocast, pick_device
from .sides import towers_of
from .tower import Side, Tower
from .vector_head import VectorHead


class TextEncoder:
    """Encodes texts with one transformer; `digest` names its exact weights and pooling, `width` its size.

    Questions and passages are encoded alike; where they are not, a `DualEncoder` has one of these for each.
    """

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        pooling: str,
        digest: str,
        batch_tokens: int = 4096,
        *,
        head: VectorHead | None = None,
        prompt: str = "",
        n_skipped: int = 0,
        max_length: int | None = None,
    ) -> None:
        self.model, self.tokenizer, self.pooling, self.digest = model, tokenizer, pooling, digest
        self.batcher = Batcher(batch_tokens)
        config: Any = model.config
        self.head = head or VectorHead(config.hidden_size)
        self.prompt, self.n_skipped = prompt, n_skipped  # stands before each text; tokens that are not pooled
        self.width = self.head.width
        self.max_length: int = max_length or config.max_position_embeddings

    @classmethod
    def load(cls, name: str = "base", device: str | None = None) -> TextEncoder:
        """The encoder of a model that encodes questions and passages alike, on the device named or the best.

        The name is one that `sides` knows; ModelRejected for a model with two different sides.
        """
        question, passage = towers_of(name)
        if question != passage or passage.inner_product:
            raise ModelRejected(f"{name} encodes questions and passages differently: use `load_encoder`")
        return cls.of_tower(passage, "passage", pick_device(device))

    @classmethod
    def of_tower(
        cls, tower: Tower, side: Side, device: torch.device, trunk: nn.Module | None = None
    ) -> TextEncoder:
        """The encoder of one side of a model; `trunk` is its transformer if that is loaded already."""
        network = load_tower(tower, trunk)
        skipped = network.n_prompt if not tower.pools_prompt else 0
        return cls(
            network.trunk.to(device),
            network.tokenizer,
            tower.pooling,
            tower.digest,
            head=VectorHead.of_tower(tower, side, network.trunk, network.projection).to(device),
            prompt=tower.prompt,
            n_skipped=skipped,
            max_length=network.max_length,
        )

    def encode(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """(n, width) float32, rows unit-norm, in the order of the texts; `report` hears how many are done.

        A row does not depend on the texts beside it: cosine at least 0.9999 between any two batchings.
        """
        ids = self._token_ids(texts)
        out = np.zeros((len(texts), self.width), dtype=np.float32)
        done = 0
        for batch, vectors in self.batcher.run(
            [len(row) for row in ids],
            lambda batch: self._forward([ids[i] for i in batch]),
            lambda i: repr(texts[i][:60]),
        ):
            out[batch] = vectors
            done += len(batch)
            report(done)
        return out

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """What `encode` gives."""
        return self.encode(texts)

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """What `encode` gives."""
        return self.encode(texts, report)

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n,) int32: how many code points of each text, from its start, `encode` sees; all, if it fits.

        What follows the last token that fits is not seen, nor is white space before it counted.
        """
        counts = np.array([len(text) for text in texts], dtype=np.int32)
        if not texts:
            return counts
        encoded = self.tokenizer(
            self._prompted(texts), truncation=False, verbose=False, return_offsets_mapping=True
        )["offset_mapping"]
        for i, offsets in enumerate(encoded):
            if len(offsets) > self.max_length:
                end = offsets[self.max_length - 2][1]  # the last position is that of [SEP]
                counts[i] = max(0, end - len(self.prompt))
        return counts

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = self.tokenizer(
            self._prompted(texts), truncation=False, verbose=False, return_attention_mask=False
        )
        rows: list[list[int]] = encoded["input_ids"]
        return [
            row if len(row) <= self.max_length else [*row[: self.max_length - 1], row[-1]] for row in rows
        ]

    def _prompted(self, texts: Sequence[str]) -> list[str]:
        return [self.prompt + text for text in texts]

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        width = max(len(row) for row in rows)
        ids = np.full((len(rows), width), self.tokenizer.pad_token_id or 0, dtype=np.int64)  # (B, L)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        weights = np.zeros((len(rows), width), dtype=np.float32)
        for i, row in enumerate(rows):
            ids[i, : len(row)], mask[i, : len(row)] = row, 1
            weights[i, : len(row)] = token_weights(self.pooling, len(row), self.n_skipped)
        device = next(self.model.parameters()).device
        attention = torch.from_numpy(mask).to(device)
        with autocast(device):
            states = self.model(
                input_ids=torch.from_numpy(ids).to(device), attention_mask=attention
            ).last_hidden_state
        pooled = torch.bmm(torch.from_numpy(weights).to(device).unsqueeze(1), states.float()).squeeze(1)
        result: NDArray[np.float32] = self.head(pooled).cpu().numpy()  # (B, width)
        return result
