"""Token vectors on a device of torch, laid out so that the maximum over each passage is one dense operation.

Passages of like length lie together in a bucket (B, L, width). A passage that is shorter than L is filled up
with copies of its last vector: a copy changes no maximum, so nothing has to be masked, and no zero can beat a
negative match. At most an eighth of a bucket is filling, or fewer than 8 vectors of a short passage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from .runs import runs
from .stored_tokens import StoredTokens
from .torch_codebook import TorchCodebook

MULTIPLE = 8  # what short passages are filled up to
_CHUNK = 1 << 18  # tokens that are decoded at once: 128 MB of float32 at 128 numbers each


@dataclass(frozen=True, slots=True)
class Bucket:
    """Passages in the slots `first` and after; `vectors` (B, L, width)."""

    first: int
    vectors: torch.Tensor


@dataclass(frozen=True, slots=True)
class TokenBuckets:
    """The decoded token vectors of some rows of a collection; slot i holds the passage of row `rows[i]`.

    `longest` is the length of the longest vector, and `error` that of the largest difference between a vector
    as it was decoded, in float32, and as it is kept.
    """

    buckets: tuple[Bucket, ...]
    rows: NDArray[np.int64]
    longest: float
    error: float

    @classmethod
    def load(
        cls, stored: StoredTokens, rows: NDArray[np.int64], device: str, dtype: torch.dtype
    ) -> TokenBuckets:
        """Decode these rows and copy them to the device; a bucket keeps the order that they are given in."""
        lengths = stored.lengths[rows]
        filled = filled_lengths(lengths)
        sizes, counts = np.unique(filled, return_counts=True)
        space = [
            torch.empty((count, size, stored.width), dtype=dtype, device=device)
            for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)
        ]
        longest, error = _fill(space, stored, rows, filled, dtype)
        starts = (np.cumsum(counts) - counts).tolist()
        buckets = tuple(Bucket(first, vectors) for first, vectors in zip(starts, space, strict=True))
        return cls(buckets, rows[np.argsort(filled, kind="stable")], longest, error)

    def __len__(self) -> int:
        """How many passages there are."""
        return len(self.rows)


def filled_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """What passages are filled up to: the next multiple of 8, and of a sixteenth of the next power of two.

    >>> filled_lengths(np.array([1, 8, 9, 100, 130, 257])).tolist()
    [8, 8, 16, 104, 144, 288]
    """
    powers = 2 ** np.ceil(np.log2(lengths.clip(min=1))).astype(np.int64)
    steps = np.maximum(MULTIPLE, powers // 16)
    filled: NDArray[np.int64] = -(-lengths // steps) * steps
    return filled


def _fill(
    space: list[torch.Tensor],
    stored: StoredTokens,
    rows: NDArray[np.int64],
    filled: NDArray[np.int64],
    dtype: torch.dtype,
) -> tuple[float, float]:
    """Copy the vectors of rows into the buckets of their lengths; the longest one and the largest error."""
    done = [0] * len(space)
    extremes = []
    codebook = TorchCodebook(stored.codebook, str(space[0].device))
    for run in runs(stored.lengths[rows], _CHUNK):
        lengths = stored.lengths[rows[run]]
        decoded = codebook.decode(stored.read(rows[run]))  # (tokens, width)
        kept = decoded.to(dtype)
        norms = [torch.linalg.vector_norm(each, dim=1).max() for each in (decoded, decoded - kept)]
        extremes.append(torch.stack(norms))
        starts = np.cumsum(lengths) - lengths
        for number, vectors in enumerate(space):
            size = vectors.shape[1]
            here = np.flatnonzero(filled[run] == size)
            places = starts[here, np.newaxis] + np.minimum(np.arange(size), lengths[here, np.newaxis] - 1)
            out = vectors[done[number] : done[number] + len(here)].view(-1, stored.width)  # (here * L, width)
            torch.index_select(kept, 0, torch.from_numpy(places.ravel()).to(kept.device), out=out)
            done[number] += len(here)
    longest, error = torch.stack(extremes).max(dim=0).values.tolist()
    return longest, error
