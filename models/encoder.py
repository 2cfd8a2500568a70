"""Texts become unit vectors: a transformer, mean or [CLS] pooling, L2 normalisation.

The pooling is read from the folder's sentence-transformers configuration. Texts are sorted by length
and batched by token budget; matrix products run in bf16 where the hardware has it, pooling and
normalisation always in float32. A text longer than the model's positions is cut there; `covered` says where.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .batching import Batcher
from .locate import WEIGHTS, file_sha256, find_model
from .precision import autocast, pick_device
from .pretrained import load_encoder_trunk, load_tokenizer


class TextEncoder:
    """Encodes texts with one transformer; `digest` names its exact weights and pooling, `width` its size."""

    def __init__(
        self, model: nn.Module, tokenizer: Any, pooling: str, digest: str, batch_tokens: int = 4096
    ) -> None:
        self.model, self.tokenizer, self.pooling, self.digest = model, tokenizer, pooling, digest
        self.batcher = Batcher(batch_tokens)
        config: Any = model.config
        self.width: int = config.hidden_size
        self.max_length: int = config.max_position_embeddings

    @classmethod
    def load(cls, name: str = "base", device: str | None = None) -> TextEncoder:
        """The encoder of a model named as `find_model` takes it, on the device named or the best there is."""
        folder = find_model(name)
        model = load_encoder_trunk(folder).to(pick_device(device))
        return cls(model, load_tokenizer(folder), pooling_of(folder), encoder_digest(folder))

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
        width = max(len(row) for row in rows)
        ids = np.full((len(rows), width), self.tokenizer.pad_token_id or 0, dtype=np.int64)  # (B, L)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)], mask[i, : len(row)] = row, 1
        device = next(self.model.parameters()).device
        attention = torch.from_numpy(mask).to(device)
        with autocast(device):
            states = self.model(
                input_ids=torch.from_numpy(ids).to(device), attention_mask=attention
            ).last_hidden_state
        vectors = nn.functional.normalize(pool(states.float(), attention, self.pooling), dim=1)
        result: NDArray[np.float32] = vectors.cpu().numpy()
        return result


def pool(states: Tensor, mask: Tensor, pooling: str) -> Tensor:
    """(B, H) from token states (B, L, H): their mean over the mask (B, L), or the first one for "cls"."""
    if pooling == "cls":
        return states[:, 0]
    weights = mask.unsqueeze(-1).to(states.dtype)  # (B, L, 1)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


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
