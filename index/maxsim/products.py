"""The products of blocks of token vectors with question rows, by the fastest means that the machine has.

`torch._int_mm`, a product of bytes with exact sums, is a private function: it may be missing, and is probed
once. Without it products are made of bfloat16 where the processor multiplies them, else of float32. Both hold
the numbers of int8 vectors exactly; float32 sums are exact, too, those of bfloat16 are rounded to 8 bits.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

_ALIGNED = 16  # rows to which a product is padded, which whole vector registers hold
_PROBED = 3, 32, 16  # a product that has to come out right


@cache
def has_int8() -> bool:
    """Whether torch multiplies int8 matrices on the CPU, and rightly."""
    tokens = torch.arange(-48, 48, dtype=torch.int8).reshape(_PROBED[:2])
    rows = torch.arange(-256, 256).remainder(251).sub(125).to(torch.int8).reshape(_PROBED[1:])
    try:
        found = torch._int_mm(tokens, rows)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return torch.equal(found, tokens.int() @ rows.int())


@cache
def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16; elsewhere torch is faster with float32."""
    try:
        return bool(torch.cpu._is_avx512_bf16_supported())
    except AttributeError:
        return False


def rounding() -> float:
    """How far a product may be from the exact one, as a share of the lengths of its two vectors."""
    return 2.0**-8 if has_bfloat16() and not has_int8() else 1e-5


def padded_rows(n: int) -> int:
    """How many columns the products of n question rows have."""
    return -(-n // _ALIGNED) * _ALIGNED


class Int8Rows:
    """Question rows (m, width) int8 as `products` wants them: columns of the right number and type."""

    def __init__(self, rows: NDArray[np.int8]) -> None:
        self.n_columns = padded_rows(len(rows))
        columns = torch.zeros(rows.shape[1], self.n_columns, dtype=torch.int8)
        columns[:, : len(rows)] = torch.from_numpy(rows).T
        self._is_int8 = has_int8()
        self._out: torch.Tensor | None = None
        if self._is_int8:
            self._columns = columns
        else:
            self._columns = columns.to(torch.bfloat16 if has_bfloat16() else torch.float32)

    def products(self, values: NDArray[np.int8]) -> NDArray[np.int32] | NDArray[np.float32]:
        """(T, columns): of each token vector (T, width) with each row, then zeros; until the next call."""
        tokens = tensor(values)
        if self._is_int8:
            if self._out is None or len(self._out) < len(tokens):
                self._out = torch.empty(len(tokens), self.n_columns, dtype=torch.int32)
            made: NDArray[np.int32] = torch._int_mm(
                tokens, self._columns, out=self._out[: len(tokens)]
            ).numpy()
            return made
        return (tokens.to(self._columns.dtype) @ self._columns).float().numpy()


def tensor(values: NDArray[Any]) -> torch.Tensor:
    """A tensor over the same memory. torch warns of arrays that cannot be written, as those of a mapped file
    are; nothing writes to this one, so that it is made of the address.
    """
    if values.flags.writeable:
        return torch.from_numpy(values)
    address = ctypes.cast(values.ctypes.data, ctypes.POINTER(np.ctypeslib.as_ctypes_type(values.dtype)))
    return torch.from_numpy(np.ctypeslib.as_array(address, values.shape))
