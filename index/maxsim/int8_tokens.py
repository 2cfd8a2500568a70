"""Stored tokens as int8 numbers, which every scan multiplies: similarity = base + scale * step * product.

    bits 8       the stored values; no base
    bits 2, 4    the levels of the residual's codes, rounded to multiples of `step`; the base is the
                 similarity of the token's centroid

The rounding of levels, and that of question rows, is why a scan only proposes: scores come from `rerank`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .codebook import Codebook
from .compiled import compiled

_LARGEST = 127
_BYTE = 256


@dataclass(frozen=True, slots=True)
class Int8Form:
    """How the values of a codebook become int8.

    `levels` (2 ** bits,) int8 are those of the codes in a stored byte, the first in its lowest bits; None
    when values are int8 already. `error` is the largest difference of a level from what it was rounded to,
    in units of a token's scale.
    """

    levels: NDArray[np.int8] | None
    step: float
    error: float

    @classmethod
    def of(cls, codebook: Codebook) -> Int8Form:
        """The form of this codebook's values."""
        levels = codebook.levels.astype(np.float64)
        step = float(np.abs(levels).max()) / _LARGEST or 1.0
        rounded = np.rint(levels / step)
        return cls(rounded.astype(np.int8), step, float(np.abs(rounded * step - levels).max()))

    def values(self, stored: NDArray[np.uint8]) -> NDArray[np.int8]:
        """(T, width) int8 of stored values (T, bytes)."""
        if self.levels is None:
            return stored.view(np.int8)
        bits = len(self.levels).bit_length() - 1
        codes = (np.arange(_BYTE)[:, np.newaxis] >> np.arange(0, 8, bits)) & (len(self.levels) - 1)
        table = self.levels[codes].view(np.uint16 if bits == 4 else np.uint32)[:, 0]  # all codes of a byte
        found = np.empty(stored.shape, table.dtype)
        look_up(stored, table, found)
        return found.view(np.int8)


@compiled
def look_up(
    stored: NDArray[np.uint8],
    table: NDArray[np.uint16] | NDArray[np.uint32],
    found: NDArray[np.uint16] | NDArray[np.uint32],
) -> None:
    """Write found[t, b] = table[stored[t, b]]."""
    for token in range(stored.shape[0]):
        for place in range(stored.shape[1]):
            found[token, place] = table[stored[token, place]]
