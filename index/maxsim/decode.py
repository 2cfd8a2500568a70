"""Vectors of runs of tokens, decoded by a table look-up and one product for each number: for the search.

    bits 2, 4    out[t, j] = centroids[places[t], j] + scales[t] * table[values[t, j // n], j % n]
    bits 8       out[t, j] = scales[t] * int8(values[t, j])

with n = 8 / bits and float32 products and sums in this order: bit for bit what `Codebook.decode` returns.
`table` (256, n) float32 holds the levels of the n codes in each byte (`Codebook.tables`): two or four numbers
for one look-up.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .packing import unpacked


def byte_table(levels: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """(256, 8 / bits) float32: the levels that each byte of codes stands for."""
    return levels[unpacked(np.arange(256, dtype=np.uint8)[:, None], bits)]


@njit(cache=True)
def decode_residual_into(centroids, table, places, values, scales, out):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write the vectors of T tokens to out (T, width) float32.

    centroids (C, width) float32, table (256, n) float32, places (T,) uint16, values (T, width / n) uint8,
    scales (T,) float32 (numba knows no float16).
    """
    each = table.shape[1]
    for t in range(len(places)):
        center, scale, row, value = centroids[places[t]], scales[t], out[t], values[t]
        if each == 2:
            for i in range(len(value)):
                entry = value[i]
                row[2 * i] = center[2 * i] + scale * table[entry, 0]
                row[2 * i + 1] = center[2 * i + 1] + scale * table[entry, 1]
        else:
            for i in range(len(value)):
                entry = value[i]
                row[4 * i] = center[4 * i] + scale * table[entry, 0]
                row[4 * i + 1] = center[4 * i + 1] + scale * table[entry, 1]
                row[4 * i + 2] = center[4 * i + 2] + scale * table[entry, 2]
                row[4 * i + 3] = center[4 * i + 3] + scale * table[entry, 3]


@njit(cache=True)
def decode_int8_into(values, scales, out):  # type: ignore[no-untyped-def] # pragma: no cover
    """Write T vectors to out (T, width) float32; values (T, width) uint8, scales (T,) float32."""
    for t in range(len(values)):
        row, scale = values[t].view(np.int8), scales[t]
        for j in range(len(row)):
            out[t, j] = scale * np.float32(row[j])
