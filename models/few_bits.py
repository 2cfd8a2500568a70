"""Numbers in two to seven bits each, with one scale for each group of 64 neighbours.

    value = code * scale,   code a whole number from -2^(bits - 1) to 2^(bits - 1) - 1

The scale is not simply that of the group's largest number: of several the one that makes the smallest sum of
squared errors is taken, each of them fitted to its codes, scale = sum(value code) / sum(code code). Of small
differences between weights this leaves, by bits, about 3 % (three) or 0.8 % (four) of their squared sum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

GROUP = 64
_CLIPPED = tuple(0.5 + 0.05 * i for i in range(12))  # shares of the largest number that may stay in range


def to_codes(values: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Packed codes, uint8, and the groups' scales, bfloat16, of finite float32 numbers of any shape.

    The last group is filled with zeros. Zeros stay zeros.
    """
    flat = values.flatten()
    groups = torch.nn.functional.pad(flat, (0, -len(flat) % GROUP)).view(-1, GROUP)
    codes, scales = _quantised(groups, 1.0, bits)
    least = _squared_error(groups, codes, scales)
    for share in _CLIPPED:
        tried_codes, tried_scales = _quantised(groups, share, bits)
        error = _squared_error(groups, tried_codes, tried_scales)
        better = error < least  # (groups, 1)
        codes, scales = torch.where(better, tried_codes, codes), torch.where(better, tried_scales, scales)
        least = torch.where(better, error, least)
    unsigned = (codes + 2 ** (bits - 1)).to(torch.uint8)
    return torch.from_numpy(pack_bits(unsigned.numpy().ravel(), bits)), scales[:, 0].to(torch.bfloat16)


def from_codes(packed: Tensor, scales: Tensor, bits: int, shape: Sequence[int]) -> Tensor:
    """The numbers again, float32, of this shape; ValueError when codes, scales and shape do not fit."""
    count = int(np.prod(shape, dtype=np.int64))
    if min(shape, default=1) < 0 or len(scales) != -(-count // GROUP):
        raise ValueError(f"{len(scales)} scales for numbers of shape {tuple(shape)}")
    unsigned = torch.from_numpy(unpack_bits(packed.numpy(), bits, len(scales) * GROUP))
    values = (unsigned.float() - 2 ** (bits - 1)).view(-1, GROUP) * scales.float()[:, None]
    restored: Tensor = values.flatten()[:count].view(*shape)
    return restored


def pack_bits(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """The low `bits` of each code, one after another; the number of codes is a multiple of eight.

    >>> pack_bits(np.array([1, 2, 3, 0, 0, 0, 0, 1], np.uint8), 2).tolist()
    [108, 1]
    """
    words = np.zeros(len(codes) // 8, np.uint64)  # eight codes each, in its low 8 * bits
    for at in range(8):
        words = words << np.uint64(bits) | codes[at::8]
    shifts = np.arange(8 * (bits - 1), -1, -8, dtype=np.uint64)
    return (words[:, None] >> shifts).astype(np.uint8).ravel()


def unpack_bits(packed: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.uint8]:
    """The `count` codes of packed ones; ValueError when there are fewer or more.

    >>> unpack_bits(np.array([108, 1], np.uint8), 2, 8).tolist()
    [1, 2, 3, 0, 0, 0, 0, 1]
    """
    if packed.dtype != np.uint8 or packed.shape != (count * bits // 8,):
        raise ValueError(f"{packed.shape} {packed.dtype} for {count} codes of {bits} bits")
    words = np.zeros(count // 8, np.uint64)
    for at in range(bits):
        words = words << np.uint64(8) | packed[at::bits]
    shifts = np.arange(7 * bits, -1, -bits, dtype=np.uint64)
    return ((words[:, None] >> shifts).astype(np.uint8) & np.uint8(2**bits - 1)).ravel()


def _quantised(groups: Tensor, share: float, bits: int) -> tuple[Tensor, Tensor]:
    """Codes (G, 64) and scales (G, 1), both float32, when this share of the largest number is in range."""
    largest = groups.gather(
        1, groups.abs().argmax(dim=1, keepdim=True)
    )  # with its sign: it has the code -2^n
    codes = _codes(groups, share * largest / -(2 ** (bits - 1)), bits)
    fitted = (groups * codes).sum(dim=1, keepdim=True) / codes.square().sum(dim=1, keepdim=True).clamp_min(1)
    scales = fitted.to(torch.bfloat16).float()
    return _codes(groups, scales, bits), scales


def _codes(groups: Tensor, scales: Tensor, bits: int) -> Tensor:
    half = 2 ** (bits - 1)
    return torch.where(scales != 0, groups / scales, 0).round().clamp(-half, half - 1)


def _squared_error(groups: Tensor, codes: Tensor, scales: Tensor) -> Tensor:
    return (groups - codes * scales).square().sum(dim=1, keepdim=True)  # (G, 1)
