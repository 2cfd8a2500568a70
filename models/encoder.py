"""Texts become unit vectors: a transformer, pooling, linear layers if the model has them, L2 normalisation.

What a model's folder asks for is read by `sides`. Texts are sorted by length and batched by token budget;
matrix products run in bf16 where the hardware has it, pooling and all that follows always in float32. A text
longer than the model's positions is cut there; `covered` says where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from spanwise.errors import ModelRejected

from .ahead import one_ahead
from .batching import BUDGETS, Batcher, token_budget_batches
from .device_worker import RowEncoder
from .dispatch import spread
from .fleet import Fleet
from .loaded_tower import load_tower
from .packed_sums import sequence_sums
from .packed_tokens import PackedTokens
from .pooling import token_weights
from .precision import pick_device, spread_devices
from .sides import towers_of
from .tower import Side, Tower
from .trunk import Trunk
from .vector_head import VectorHead

WINDOW = 1024  # texts that are sorted by length together, while the next ones are being tokenized
Computed = tuple[NDArray[np.int64], NDArray[np.float32]]


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
        batch_tokens: int | None = None,
        *,
        head: VectorHead | None = None,
        prompt: str = "",
        n_skipped: int = 0,
        max_length: int | None = None,
        load: Callable[[str], RowEncoder] | None = None,
    ) -> None:
        self.model, self.tokenizer, self.pooling, self.digest = model, tokenizer, pooling, digest
        self.device = next(model.parameters()).device
        self.trunk = Trunk(model)
        self.batcher = Batcher(batch_tokens or BUDGETS.get(self.device.type, BUDGETS["cpu"]))
        self.fleet = Fleet(load, spread_devices(self.device))
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
        return cls.of_tower(passage, "passage", device)

    @classmethod
    def of_tower(
        cls, tower: Tower, side: Side, device: str | None = None, shared: TextEncoder | None = None
    ) -> TextEncoder:
        """The encoder of one side of a model; the transformer is that of `shared`, when it has the same."""
        network, on = load_tower(tower, shared.model if shared else None), pick_device(device)
        skipped = network.n_prompt if not tower.pools_prompt else 0
        made = cls(
            network.trunk.to(on),
            network.tokenizer,
            tower.pooling,
            tower.digest,
            head=VectorHead.of_tower(tower, side, network.trunk, network.projection).to(on),
            prompt=tower.prompt,
            n_skipped=skipped,
            max_length=network.max_length,
            load=partial(cls.of_tower, tower, side),  # on another device
        )
        if shared:
            made.trunk = shared.trunk  # its weights are packed once
        return made

    def encode(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> NDArray[np.float32]:
        """(n, width) float32, rows unit-norm, in the order of the texts; `report` hears how many are done.

        A row does not depend on the texts beside it: cosine at least 0.9999 between any two batchings.
        """
        out = np.zeros((len(texts), self.width), dtype=np.float32)
        starts, done = range(0, len(texts), WINDOW), 0
        windows = one_ahead(starts, lambda at: (at, self._token_ids(texts[at : at + WINDOW])))
        for first, rows in windows:
            for batch, vectors in self._batches(rows, partial(_excerpt, texts, first)):
                out[first + batch] = vectors
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

    def encode_rows(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """(n, width) from n sequences of token ids, on this device alone."""
        out = np.zeros((len(rows), self.width), dtype=np.float32)
        for batch, vectors in self._batches_here(rows, lambda i: f"sequence {i}"):
            out[batch] = vectors
        return out

    def _batches(self, rows: Sequence[Sequence[int]], describe: Callable[[int], str]) -> Iterator[Computed]:
        """Batches as index arrays with their vectors, in no certain order; each row once."""
        workers = self.fleet.workers(sum(map(len, rows)))
        if not workers:
            yield from self._batches_here(rows, describe)
            return
        plan = token_budget_batches([len(row) for row in rows], self.batcher.budget)

        def on(worker: RowEncoder) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
            return lambda batch: worker.encode_rows([rows[i] for i in batch])

        yield from spread(plan, [on(worker) for worker in workers])

    def _batches_here(
        self, rows: Sequence[Sequence[int]], describe: Callable[[int], str]
    ) -> Iterator[Computed]:
        return self.batcher.run(
            [len(row) for row in rows], lambda batch: self._forward([rows[i] for i in batch]), describe
        )

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
        tokens = PackedTokens.of(rows)
        weights = [token_weights(self.pooling, len(row), self.n_skipped) for row in rows]
        pooled = sequence_sums(self.trunk.states(tokens), np.concatenate(weights), tokens.lengths)
        result: NDArray[np.float32] = self.head(pooled).cpu().numpy()  # (B, width)
        return result


def _excerpt(texts: Sequence[str], first: int, i: int) -> str:
    return repr(texts[first + i][:60])
