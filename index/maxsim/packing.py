"""Codes of 2 or 4 bits in bytes, the first of a byte in its lowest bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def packed(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """(T, width * bits / 8) uint8 of codes (T, width), each below 2 ** bits; width a multiple of 8 / bits.

    >>> packed(np.array([[1, 2, 3, 0]], np.uint8), 2).tolist()
    [[57]]
    """
    each = 8 // bits
    parts = codes.reshape(len(codes), -1, each) << (np.arange(each, dtype=np.uint8) * bits)
    joined: NDArray[np.uint8] = np.bitwise_or.reduce(parts, axis=2)
    return joined


def unpacked(values: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """The codes (T, width) in values (T, width * bits / 8): the inverse of `packed`."""
    each = 8 // bits
    parts = values[:, :, None] >> (np.arange(each, dtype=np.uint8) * bits)
    codes: NDArray[np.uint8] = (parts & np.uint8(2**bits - 1)).reshape(len(values), values.shape[1] * each)
    return codes
