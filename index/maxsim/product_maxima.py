"""For each passage the sum over question rows of the largest similarity with its tokens, in one pass.

Tokens are read once, where they lie, and nothing is written but the sums: four products of bytes, added to
16 accumulators, are one instruction (VNNI, vpdpbusd) of x86 processors since 2019. It multiplies unsigned by
signed bytes: question rows are stored with 128 added, and what that adds to a product, 128 times the sum of
the token's numbers, is found in the last lane, a row of ones, and taken away again.

`is_fused` says whether the machine can do it; the others multiply blocks, see `products`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numpy.typing import NDArray

from .compiled import compiled, instructions

LANES = 16
ROWS = LANES - 1  # question rows in a group: the last lane sums up the token
GROUP = 4  # numbers that are multiplied at once
_TILE = 8  # tokens whose products are added up side by side
_AHEAD = 16  # tokens that are fetched before their turn
_INT32 = ir.IntType(32)
_INTS = ir.VectorType(_INT32, LANES)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_NOWHERE = ir.Constant(_INTS, ir.Undefined)
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_LOWEST = float(np.finfo(np.float32).min)


@cache
def is_fused(width: int) -> bool:
    """Whether numba compiles for a processor with VNNI, and vectors of this width can be cut into fours."""
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    return width % GROUP == 0 and {"+avx512vnni", "+avx512f", "+f16c"} <= set(features)


def interleaved(rows: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Question rows (m, width) for the kernel, (groups of 15 rows, width / 4, 16, 4), with 128 added."""
    n_groups = -(-len(rows) // ROWS)
    lanes = np.full((n_groups * ROWS, rows.shape[1]), 128, np.uint8)
    lanes[: len(rows)] = rows.view(np.uint8) ^ 0x80
    full = np.ones((n_groups, LANES, rows.shape[1]), np.uint8)
    full[:, :ROWS] = lanes.reshape(n_groups, ROWS, -1)
    return np.ascontiguousarray(full.reshape(n_groups, LANES, -1, GROUP).transpose(0, 2, 1, 3))


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """A vector that holds the value in every lane."""
    nowhere = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nowhere, value, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(first, nowhere, ir.Constant(_INTS, [0] * LANES))


class _Tile:
    """Instructions for a few tokens that follow one another."""

    def __init__(
        self, builder: Any, rows: Any, n_steps: Any, tokens: Any, scales: Any, bases: Any, best: Any
    ) -> None:
        self._builder, self._rows, self._n_steps = builder, rows, n_steps
        self._tokens, self._scales, self._bases, self._best = tokens, scales, bases, best
        self._multiply_add = builder.module.declare_intrinsic(
            "llvm.x86.avx512.vpdpbusd.512", (), ir.FunctionType(_INTS, [_INTS] * 3)
        )

    def emit(self, first: Any, n: int) -> None:
        """Raise the maxima by tokens `first` to `first + n`."""
        builder = self._builder
        places = [builder.add(first, ir.Constant(first.type, number)) for number in range(n)]
        sums = [cgutils.alloca_once(builder, _INTS) for _ in places]
        for held in sums:
            builder.store(ir.Constant(_INTS, [0] * LANES), held)
        offsets = [builder.mul(place, self._n_steps) for place in places]
        for offset in offsets:
            self._prefetch(offset)
        with cgutils.for_range(builder, self._n_steps) as loop:
            rows = builder.load(builder.gep(self._rows, [loop.index]), align=1)
            for held, offset in zip(sums, offsets, strict=True):
                place = builder.gep(self._tokens, [builder.add(offset, loop.index)])
                numbers = builder.load(place, align=1)
                spread = _spread(builder, numbers, _INTS)
                builder.store(builder.call(self._multiply_add, [builder.load(held), rows, spread]), held)
        for held, place in zip(sums, places, strict=True):
            self._raise(builder.load(held), place)

    def _prefetch(self, offset: Any) -> None:
        """Ask for what lies some tokens ahead: the processor itself stops at the end of each memory page."""
        builder, byte = self._builder, ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, *[_INT32] * 3])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        ahead = builder.mul(self._n_steps, ir.Constant(offset.type, _AHEAD))
        for line in (0, 1):
            step = ir.Constant(offset.type, line * LANES)
            place = builder.gep(self._tokens, [builder.add(builder.add(offset, ahead), step)])
            how = [ir.Constant(_INT32, number) for number in (0, 3, 1)]  # to read, into all caches, data
            builder.call(prefetch, [builder.bitcast(place, byte), *how])

    def _raise(self, products: Any, place: Any) -> None:
        """Raise the maxima by the similarities with one token."""
        builder = self._builder
        token_sum = builder.shuffle_vector(products, _NOWHERE, ir.Constant(_INTS, [LANES - 1] * LANES))
        products = builder.sub(products, builder.shl(token_sum, ir.Constant(_INTS, [7] * LANES)))
        scale = builder.fpext(builder.load(builder.gep(self._scales, [place]), align=1), ir.FloatType())
        scaled = builder.fmul(builder.sitofp(products, _FLOATS), _spread(builder, scale, _FLOATS))
        centroids, base, stride = self._bases
        centroid = builder.zext(builder.load(builder.gep(centroids, [place]), align=1), stride.type)
        base_at = builder.gep(base, [builder.mul(centroid, stride)])
        similarity = builder.fadd(scaled, builder.load(base_at, align=1))
        held = builder.load(self._best)
        is_higher = builder.fcmp_ordered(">", similarity, held)
        builder.store(builder.select(is_higher, similarity, held), self._best)


@instructions
def _maxima(
    _: Any, rows: Any, n_steps: Any, tokens: Any, n: Any, scales: Any, centroids: Any, base: Any,
    stride: Any, out: Any,
) -> Any:  # fmt: skip
    """Write the 16 largest similarities over n tokens; arguments are addresses and counts.

    The base of centroid c stands c * stride vectors of 16 behind its address.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def pointer(address: Any, pointee: Any) -> Any:
            return builder.inttoptr(address, pointee.as_pointer())

        rows, n_steps, tokens, n, scales, centroids, base, stride, out = args
        best = cgutils.alloca_once(builder, _FLOATS)
        builder.store(ir.Constant(_FLOATS, [_LOWEST] * LANES), best)
        tile = _Tile(
            builder,
            pointer(rows, _INTS),
            n_steps,
            pointer(tokens, _INT32),
            pointer(scales, ir.HalfType()),
            (pointer(centroids, ir.IntType(16)), pointer(base, _FLOATS), stride),
            best,
        )
        width = ir.Constant(n.type, _TILE)
        n_tiles = builder.sdiv(n, width)
        with cgutils.for_range(builder, n_tiles) as loop:
            tile.emit(builder.mul(loop.index, width), _TILE)
        done = builder.mul(n_tiles, width)
        with cgutils.for_range(builder, builder.sub(n, done)) as loop:
            tile.emit(builder.add(done, loop.index), 1)
        builder.store(builder.load(best), pointer(out, _FLOATS), align=1)
        return context.get_dummy_value()

    word, count = types.uintp, types.intp
    return types.void(word, count, word, count, word, word, word, count, word), generate


def _unpacked(n_codes: int) -> Any:
    """An intrinsic that writes the levels of the codes in 16 bytes, `n_codes` (2 or 4) a byte."""

    @instructions
    def unpacked(_: Any, stored: Any, levels: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            look_up = builder.module.declare_intrinsic(
                "llvm.x86.ssse3.pshuf.b.128", (), ir.FunctionType(_BYTES, [_BYTES, _BYTES])
            )
            stored, levels, out = args
            codes = builder.load(builder.inttoptr(stored, _BYTES.as_pointer()), align=1)
            table = builder.load(builder.inttoptr(levels, _BYTES.as_pointer()), align=1)
            bits = 8 // n_codes
            parts = []
            for number in range(n_codes):
                shifted = builder.lshr(codes, ir.Constant(_BYTES, [bits * number] * LANES))
                code = builder.and_(shifted, ir.Constant(_BYTES, [2**bits - 1] * LANES))
                parts.append(builder.call(look_up, [table, code]))
            while len(parts) > 1:  # neighbours in a byte become neighbours in the output
                half = len(parts) // 2
                pairs = zip(parts[:half], parts[half:], strict=True)
                parts = [_interleaved(builder, even, odd) for even, odd in pairs]
            builder.store(parts[0], builder.inttoptr(out, parts[0].type.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.uintp, types.uintp, types.uintp), generate

    return unpacked


def _interleaved(builder: Any, even: Any, odd: Any) -> Any:
    """The elements of two vectors by turns."""
    order = [place + half * even.type.count for place in range(even.type.count) for half in (0, 1)]
    mask = ir.Constant(ir.VectorType(_INT32, len(order)), order)
    return builder.shuffle_vector(even, odd, mask)


_unpacked_two, _unpacked_four = _unpacked(2), _unpacked(4)


@compiled
def unpack(
    values: NDArray[np.uint8], start: int, end: int, levels: NDArray[np.int8], out: NDArray[np.int8]
) -> None:
    """Write the levels of the codes in values[start:end], two or four a byte as there are 16 levels or 4."""
    n_bytes = values.shape[1]
    stored, n = values.ctypes.data + start * n_bytes, (end - start) * n_bytes
    n_codes = 2 if levels.shape[0] == 16 else 4
    bits = 8 // n_codes
    table = np.zeros(LANES, np.int8)
    for code in range(levels.shape[0]):  # numba compiles a slice assignment for seconds
        table[code] = levels[code]
    whole = n // LANES * LANES
    for first in range(0, whole, LANES):
        source = np.uintp(stored + first)
        to = np.uintp(out.ctypes.data + first * n_codes)
        if n_codes == 2:
            _unpacked_two(source, np.uintp(table.ctypes.data), to)
        else:
            _unpacked_four(source, np.uintp(table.ctypes.data), to)
    for place in range(whole, n):
        byte = values[start + place // n_bytes, place % n_bytes]
        for number in range(n_codes):
            code = (byte >> (bits * number)) & (levels.shape[0] - 1)
            out[place * n_codes + number] = levels[code]


@compiled
def product_sums(
    rows: NDArray[np.uint8],
    weights: NDArray[np.float32],
    base: NDArray[np.float32],
    levels: NDArray[np.int8],
    values: NDArray[np.uint8],
    scales: NDArray[np.uint16],
    centroids: NDArray[np.uint16],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    sums: NDArray[np.float32],
) -> None:
    """Write `sums` (n,): for the passage of the tokens start:end the sum of its weighted maxima.

    `rows` as `interleaved` makes them; `weights` (groups * 15,), 0 for rows that there are not; `base`
    (C or 1, groups, 16), one for each centroid or for all; `levels` is empty when `values` (T, bytes) are
    int8, else those of their codes; `scales` (T,) are the bits of float16. Only where `is_fused`.
    """
    n_groups, n_steps, n_bytes = rows.shape[0], rows.shape[1], values.shape[1]
    stride = n_groups if base.shape[0] > 1 else 0
    longest = 0
    if levels.shape[0]:
        for passage in range(starts.shape[0]):
            longest = max(longest, ends[passage] - starts[passage])
    unpacked = np.empty(longest * n_steps * GROUP, np.int8)
    maxima = np.empty(LANES, np.float32)
    for passage in range(starts.shape[0]):
        start, end = starts[passage], ends[passage]
        tokens = values.ctypes.data + start * n_bytes
        if levels.shape[0]:
            unpack(values, start, end, levels, unpacked)
            tokens = unpacked.ctypes.data
        total = np.float32(0)
        for group in range(n_groups):
            _maxima(
                np.uintp(rows.ctypes.data + group * n_steps * LANES * GROUP),
                n_steps,
                np.uintp(tokens),
                end - start,
                np.uintp(scales.ctypes.data + 2 * start),
                np.uintp(centroids.ctypes.data + 2 * start),
                np.uintp(base.ctypes.data + group * LANES * 4),
                stride,
                np.uintp(maxima.ctypes.data),
            )
            for lane in range(ROWS):
                total += maxima[lane] * weights[group * ROWS + lane]
        sums[passage] = total
