"""For each passage the weighted sum over question rows of the largest table entry among its codes.

The innermost loop, the elementwise maximum of 16 bytes for each code, is written as vector instructions of
LLVM, which every processor has in some form: numba's own loops keep the maxima in memory and take twenty times
as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from .compiled import compiled

LANES = 16
_BYTES = ir.VectorType(ir.IntType(8), LANES)


@intrinsic  # type: ignore[misc]
def _maxima(_: Any, table: Any, stride: Any, codes: Any, n: Any, out: Any) -> Any:
    """Write the maximum of `table[code * stride :][:16]` over n codes; arguments are addresses and counts."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table_at, stride, codes_at, n, out_at = args
        rows = builder.inttoptr(table_at, ir.IntType(8).as_pointer())
        codes = builder.inttoptr(codes_at, ir.IntType(16).as_pointer())
        best = cgutils.alloca_once(builder, _BYTES)
        builder.store(ir.Constant(_BYTES, [0] * LANES), best)
        with cgutils.for_range(builder, n) as loop:
            code = builder.zext(builder.load(builder.gep(codes, [loop.index]), align=1), stride.type)
            place = builder.gep(rows, [builder.mul(code, stride)])
            row = builder.load(builder.bitcast(place, _BYTES.as_pointer()), align=1)
            held = builder.load(best)
            builder.store(builder.select(builder.icmp_unsigned(">", row, held), row, held), best)
        builder.store(builder.load(best), builder.inttoptr(out_at, _BYTES.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.uintp, types.intp, types.uintp, types.intp, types.uintp), generate


@compiled
def code_sums(
    table: NDArray[np.uint8],
    weights: NDArray[np.float32],
    codes: NDArray[np.uint16],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    sums: NDArray[np.float32],
) -> None:
    """Write `sums` (n,): for the passage of codes[start:end] the sum over r of weights[r] * max table[code, r].

    `table` (C, R) and `weights` (R,) have R a multiple of 16; every code is below C.
    """
    width = table.shape[1]
    maxima = np.empty(LANES, np.uint8)
    for passage in range(starts.shape[0]):
        start = starts[passage]
        total = np.float32(0)
        for first in range(0, width, LANES):
            _maxima(
                np.uintp(table.ctypes.data + first),
                width,
                np.uintp(codes.ctypes.data + 2 * start),
                ends[passage] - start,
                np.uintp(maxima.ctypes.data),
            )
            for lane in range(LANES):
                total += np.float32(maxima[lane]) * weights[first + lane]
        sums[passage] = total
