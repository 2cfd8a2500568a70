"""Where the tokens of a packed batch stand: sequences one below another, each in a block of a few widths.

A sequence takes its length, rounded up to a multiple of 16: the fused attention works on vectors of 16
scores and takes up to 1.7 times as long over 159 keys as over 160. Neighbours of equal width form a block,
which attention takes in one call, without copying; a batch sorted by length has few of them. The total is
rounded as well: every new shape of a product costs the CPU's kernel library milliseconds to prepare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .batching import padded

VECTOR = 16
SHAPES_PER_OCTAVE = 16

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows [first, last): `n` sequences of `width` rows; `bias` (n, 1, 1, width) hides rows by -inf.

    Hidden are those without a token, and tokens that are not attended to; the bias is None where none is.
    """

    first: int
    last: int
    n: int
    width: int
    bias: Tensor | None


@dataclass(frozen=True, slots=True)
class Layout:
    """`n_rows` in all, `places` (T,) the row of each token, and the blocks in the order of the rows."""

    n_rows: int
    places: Ids
    blocks: list[Block]

    @classmethod
    def of(cls, lengths: Ids, dtype: torch.dtype, device: torch.device, seen: Ids | None = None) -> Layout:
        """The layout for sequences of these lengths (B,); biases in the precision of the scores.

        Of each sequence the first `seen` tokens (B,) are attended to, by default all.
        """
        seen = lengths if seen is None else seen
        widths = -(-lengths // VECTOR) * VECTOR
        ends = np.cumsum(widths)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        blocks = [
            _block(seen[first:last], int(ends[first] - widths[first]), int(widths[first]), dtype, device)
            for first, last in _runs(widths)
        ]
        return cls(rounded(int(ends[-1])), np.repeat(ends - widths, lengths) + within, blocks)

    def laid_out(self, values: Ids) -> Ids:
        """(n_rows,) from one value a token (T,); 0 where no token is."""
        out = np.zeros(self.n_rows, dtype=np.int64)
        out[self.places] = values
        return out


def rounded(n_rows: int) -> int:
    """The least size from `n_rows` upward that is one of 16 between two powers of two, or a multiple of 16.

    >>> rounded(100), rounded(1030), rounded(4096)
    (112, 1088, 4096)
    """
    octave = 2 ** max(0, (n_rows - 1).bit_length() - 1)
    return padded(n_rows, max(VECTOR, octave // SHAPES_PER_OCTAVE))


def _runs(widths: Ids) -> Iterator[tuple[int, int]]:
    """The index ranges [first, last) in which the widths are equal."""
    cuts = [0, *(np.flatnonzero(np.diff(widths)) + 1).tolist(), len(widths)]
    yield from pairwise(cuts)


def _block(seen: Ids, first: int, width: int, dtype: torch.dtype, device: torch.device) -> Block:
    n, bias = len(seen), None
    if seen.min() < width:
        absent = torch.from_numpy(np.arange(width) >= seen[:, np.newaxis])  # (n, width)
        bias = torch.zeros(absent.shape, dtype=dtype).masked_fill_(absent, float("-inf"))
        bias = bias.to(device)[:, None, None, :]
    return Block(first, first + n * width, n, width, bias)
