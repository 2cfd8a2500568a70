"""Exact search on a GPU: float32 vectors in its memory, matrix products and the highest scores by torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from .exact_scores import float32_slack
from .scan import Nearest
from .stored_vectors import StoredVectors

_QUERIES = 512  # compared with a block of rows at once: 128 MB of scores


class TorchScan:
    """The vectors lie in blocks on a device of torch; "cpu" is one, too."""

    def __init__(self, blocks: Sequence[torch.Tensor], device: str) -> None:
        self._blocks = tuple(blocks)
        self._device = device

    @classmethod
    def load(cls, stored: StoredVectors, device: str) -> TorchScan:
        """Copy all vectors to the device."""
        return cls([torch.tensor(block, device=device) for block in stored.blocks()], device)

    @torch.inference_mode()
    def nearest(
        self, queries: NDArray[np.float32], n: int, chosen: NDArray[np.bool_] | None = None
    ) -> Nearest:
        """The nearest n rows for each query; see `Scan`."""
        allowed = None if chosen is None else torch.tensor(chosen, device=self._device)
        parts = [
            self._part(torch.tensor(queries[at : at + _QUERIES], device=self._device), n, allowed)
            for at in range(0, len(queries), _QUERIES)
        ]
        scores, rows = (np.concatenate([part[side].cpu().numpy() for part in parts]) for side in (0, 1))
        return Nearest(scores, rows, float32_slack(queries.shape[1]) + reduced_precision_slack())

    def _part(
        self, queries: torch.Tensor, n: int, allowed: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The highest scores (Q, n) and their rows."""
        scores = queries.new_empty((len(queries), 0))
        rows = torch.empty_like(scores, dtype=torch.int64)
        first = 0
        for block in self._blocks:
            products = queries @ block.T  # (Q, rows of the block)
            if allowed is not None:
                products.masked_fill_(~allowed[first : first + len(block)], -torch.inf)
            found, at = products.topk(min(n, len(block)), dim=1)
            scores, rows = torch.cat([scores, found], dim=1), torch.cat([rows, first + at], dim=1)
            scores, order = scores.topk(min(n, scores.shape[1]), dim=1)
            rows = rows.gather(1, order)
            first += len(block)
        return scores, rows


def reduced_precision_slack() -> float:
    """What is added to `float32_slack` where torch may round both factors to 8 bits (bf16) or 11 (TF32)."""
    return {"highest": 0.0, "high": 2.0**-8}.get(torch.get_float32_matmul_precision(), 2.0**-5)
