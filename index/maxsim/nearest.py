"""The nearest centroid of each vector: where k-means and the encoding of tokens spend their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

_BLOCK = 128  # vectors at a time: their scores stay in the processor's cache
_GROUP = (
    64  # centroids of which the highest score is found first: torch is fast at maxima, not at their places
)


def nearest(centroids: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """(T,) the row of the centroid with the smallest distance to each of the (T, width) vectors.

        argmin_c |x - c|^2 = argmax_c <x, c> - |c|^2 / 2

    Where the hardware multiplies in bf16 the scores are rounded to 8 bits: of centroids that are so nearly
    equally near any may be named. Ties: the lowest row within the first group that reaches the maximum.
    """
    import torch

    table, halves = _padded(centroids)
    if _has_bf16():
        table, halves = table.bfloat16(), halves.bfloat16()
    found = np.empty(len(vectors), np.int64)
    for start in range(0, len(vectors), _BLOCK):
        block = torch.from_numpy(np.ascontiguousarray(vectors[start : start + _BLOCK], np.float32))
        scores = torch.addmm(halves, block.to(table.dtype), table.T)  # (block, padded)
        found[start : start + _BLOCK] = _highest(scores).numpy()
    return found


def _padded(centroids: NDArray[np.float32]) -> tuple[torch.Tensor, torch.Tensor]:
    """The centroids and minus half their squared lengths, in full groups: what is added is never nearest."""
    import torch

    extra = -len(centroids) % _GROUP
    table = torch.nn.functional.pad(torch.from_numpy(np.ascontiguousarray(centroids)), (0, 0, 0, extra))
    halves = -(table * table).sum(1) / 2
    halves[len(centroids) :] = float("-inf")
    return table, halves


def _highest(scores: torch.Tensor) -> torch.Tensor:
    """The column of each row's highest score."""
    import torch

    groups = scores.view(len(scores), -1, _GROUP)
    group = groups.amax(2).argmax(1)
    within = groups[torch.arange(len(scores)), group].argmax(1)
    return group * _GROUP + within


def _has_bf16() -> bool:
    """True when the processor multiplies matrices in bf16 in hardware."""
    import torch

    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe and probe())
