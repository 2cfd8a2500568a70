"""Texts become unit vectors: a transformer, mean or [CLS] pooling, L2 normalisation.

The pooling is read from the folder's sentence-transformers configuration. Texts are sorted by length
and batched by token budget; matrix products run in bf16 where the hardware has it, pooling and
normalisation always in float32. A text longer than the model's positions is cut there; `covered` says where.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
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
from .locate import WEIGHTS, file_sha256, find_model
from .packed_sums import pooling_weights, sequence_sums
from .packed_tokens import PackedTokens
from .precision import pick_device, spread_devices
from .pretrained import load_encoder_trunk, load_tokenizer
from .trunk import Trunk

WINDOW = 1024  # texts that are sorted by length together, while the next ones are being tokenized
Computed = tuple[NDArray[np.int64], NDArray[np.float32]]


class TextEncoder:
    """Encodes texts with one transformer; `digest` names its exact weights and pooling, `width` its size."""

    def __init__(
        self,
        model: nn.Module,
        tokenizer: Any,
        pooling: str,
        digest: str,
        batch_tokens: int | None = None,
        load: Callable[[str], RowEncoder] | None = None,
    ) -> None:
        self.model, self.tokenizer, self.pooling, self.digest = model, tokenizer, pooling, digest
        self.device = next(model.parameters()).device
        self.trunk = Trunk(model)
        self.batcher = Batcher(batch_tokens or BUDGETS.get(self.device.type, BUDGETS["cpu"]))
        self.fleet = Fleet(load, spread_devices(self.device))
        config: Any = model.config
        self.width: int = config.hidden_size
        self.max_length: int = config.max_position_embeddings

    @classmethod
    def load(cls, name: str = "base", device: str | None = None) -> TextEncoder:
        """The encoder of a model named as `find_model` takes it, on the device named or the best there is."""
        folder = find_model(name)
        model = load_encoder_trunk(folder).to(pick_device(device))
        load = partial(cls.load, name)  # on another device
        return cls(model, load_tokenizer(folder), pooling_of(folder), encoder_digest(folder), load=load)

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
        encoded = self.tokenizer(list(texts), truncation=False, verbose=False, return_offsets_mapping=True)[
            "offset_mapping"
        ]
        for i, offsets in enumerate(encoded):
            if len(offsets) > self.max_length:
                counts[i] = offsets[self.max_length - 2][1]  # the last position is that of [SEP]
        return counts

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = self.tokenizer(list(texts), truncation=False, verbose=False, return_attention_mask=False)
        rows: list[list[int]] = encoded["input_ids"]
        return [
            row if len(row) <= self.max_length else [*row[: self.max_length - 1], row[-1]] for row in rows
        ]

    @torch.inference_mode()
    def _forward(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        tokens = PackedTokens.of(rows)
        weights = pooling_weights(self.pooling, tokens)
        pooled = sequence_sums(self.trunk.states(tokens), weights, tokens.lengths)
        result: NDArray[np.float32] = nn.functional.normalize(pooled, dim=1).cpu().numpy()
        return result


def _excerpt(texts: Sequence[str], first: int, i: int) -> str:
    return repr(texts[first + i][:60])


def pooling_of(folder: Path) -> str:
    """ "mean" or "cls", as the folder's sentence-transformers configuration says; "mean" without one."""
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return "mean"
    config = json.loads(path.read_text(encoding="utf-8"))
    if config.get("pooling_mode_cls_token") or config.get("pooling_mode") == "cls":
        return "cls"
    if config.get("pooling_mode_mean_tokens") or config.get("pooling_mode") == "mean":
        return "mean"
    raise ModelRejected(f"{path}: neither mean nor [CLS] pooling, which are the ones known here")


def encoder_digest(folder: Path) -> str:
    """The sha256 that names what this folder's encoder computes: its weights and its pooling."""
    parts = [file_sha256(path) for path in sorted(folder.glob("*.safetensors"))] or [
        file_sha256(folder / WEIGHTS)
    ]
    return hashlib.sha256(" ".join([*parts, pooling_of(folder)]).encode()).hexdigest()
