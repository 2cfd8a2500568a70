"""Compiled loops of MaxSim search and of the codec, by numba; two are written as LLVM vector instructions.

`product_sums` reads tokens once, from the mapped columns. x86 processors since 2019 have an instruction
(VNNI, vpdpbusd) that adds four products of bytes to each of 16 accumulators. It multiplies unsigned by signed
bytes, so question rows are stored with 128 added. That adds 128 times the sum of the token's numbers to a
product. The last lane, a row of ones, computes that sum, and it is subtracted.

`code_sums` takes the elementwise maximum of 16 bytes for each code. Plain numba keeps the maxima in memory
and takes twenty times as long.

All functions are in this file, because numba recompiles a cached function only when its own file changes, not
when the file of an intrinsic changes.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numpy.typing import NDArray

from ..protocol import Array, Bytes, Floats, Ids, Shorts

LANES = 16
ROWS = LANES - 1  # question rows in a group: the last lane sums up the token
GROUP = 4  # numbers that are multiplied at once
_TILE = 8  # tokens whose products are summed side by side
_INT32 = ir.IntType(32)
_INTS = ir.VectorType(_INT32, LANES)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_NOWHERE = ir.Constant(_INTS, ir.Undefined)
_BYTES = ir.VectorType(ir.IntType(8), LANES)
_LOWEST = float(np.finfo(np.float32).min)
SMALLEST = 1e-6  # root mean square of a residual that counts as zero
_TURNS = 3  # of fitting the codes and then the scale

Function = TypeVar("Function", bound=Callable[..., Any])
instructions: Callable[[Callable[..., Any]], Any] = intrinsic  # from a signature and a generator of LLVM code


def compiled(function: Function) -> Function:
    """The function in machine code, compiled on first use and cached on disk if possible."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}  # x / 0 is inf and costs no check
    try:
        machine_code: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder for its cache, so every process compiles
        machine_code = numba.njit(**options)(function)
    return cast(Function, machine_code)


@cache
def is_fused(width: int) -> bool:
    """True if numba compiles for a processor with VNNI, and the width is a multiple of four."""
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    return width % GROUP == 0 and {"+avx512vnni", "+avx512f", "+f16c"} <= set(features)


def interleaved(rows: NDArray[np.int8]) -> Bytes:
    """Question rows (m, width) for the kernel, (groups of 15 rows, width / 4, 16, 4), with 128 added."""
    n_groups = -(-len(rows) // ROWS)
    lanes = np.full((n_groups * ROWS, rows.shape[1]), 128, np.uint8)
    lanes[: len(rows)] = rows.view(np.uint8) ^ 0x80
    full = np.ones((n_groups, LANES, rows.shape[1]), np.uint8)
    full[:, :ROWS] = lanes.reshape(n_groups, ROWS, -1)
    return np.ascontiguousarray(full.reshape(n_groups, LANES, -1, GROUP).transpose(0, 2, 1, 3))


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """A vector with the value in every lane."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(first, first, ir.Constant(_INTS, [0] * LANES))


class _Tile:
    """Instructions for a few consecutive tokens."""

    def __init__(
        self, builder: Any, rows: Any, n_steps: Any, tokens: Any, scales: Any, bases: Any, best: Any
    ) -> None:
        self._builder = builder
        self._rows = rows
        self._n_steps = n_steps
        self._tokens = tokens
        self._scales = scales
        self._bases = bases
        self._best = best
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
        with cgutils.for_range(builder, self._n_steps) as loop:
            rows = builder.load(builder.gep(self._rows, [loop.index]), align=1)
            for held, offset in zip(sums, offsets, strict=True):
                place = builder.gep(self._tokens, [builder.add(offset, loop.index)])
                numbers = builder.load(place, align=1)
                spread = _spread(builder, numbers, _INTS)
                builder.store(builder.call(self._multiply_add, [builder.load(held), rows, spread]), held)
        for held, place in zip(sums, places, strict=True):
            self._raise(builder.load(held), place)

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

    word = types.uintp
    count = types.intp
    return types.void(word, count, word, count, word, word, word, count, word), generate


@instructions
def _unpacked(_: Any, stored: Any, levels: Any, out: Any) -> Any:
    """Write the levels of the 32 codes in 16 bytes; arguments are addresses."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        look_up = builder.module.declare_intrinsic(
            "llvm.x86.ssse3.pshuf.b.128", (), ir.FunctionType(_BYTES, [_BYTES, _BYTES])
        )
        stored, levels, out = args
        codes = builder.load(builder.inttoptr(stored, _BYTES.as_pointer()), align=1)
        table = builder.load(builder.inttoptr(levels, _BYTES.as_pointer()), align=1)
        low = builder.and_(codes, ir.Constant(_BYTES, [15] * LANES))
        high = builder.lshr(codes, ir.Constant(_BYTES, [4] * LANES))
        even, odd = (builder.call(look_up, [table, code]) for code in (low, high))
        order = [place + half * LANES for place in range(LANES) for half in (0, 1)]
        both = builder.shuffle_vector(even, odd, ir.Constant(ir.VectorType(_INT32, 2 * LANES), order))
        builder.store(both, builder.inttoptr(out, both.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.uintp), generate


@compiled
def unpack(values: Bytes, start: int, end: int, levels: NDArray[np.int8], out: NDArray[np.int8]) -> None:
    """Write the `levels` (16,) of the codes in values[start:end], two per byte, the first in its low bits."""
    n_bytes = values.shape[1]
    stored = values.ctypes.data + start * n_bytes
    n = (end - start) * n_bytes
    whole = n // LANES * LANES
    for first in range(0, whole, LANES):
        target = np.uintp(out.ctypes.data + 2 * first)
        _unpacked(np.uintp(stored + first), np.uintp(levels.ctypes.data), target)
    for place in range(whole, n):
        byte = values[start + place // n_bytes, place % n_bytes]
        out[2 * place] = levels[byte & 15]
        out[2 * place + 1] = levels[byte >> 4]


@compiled
def product_sums(
    rows: Bytes,
    weights: Floats,
    base: Floats,
    levels: NDArray[np.int8],
    values: Bytes,
    scales: Shorts,
    centroids: Shorts,
    starts: Ids,
    ends: Ids,
    sums: Floats,
) -> None:
    """Write `sums` (n,): the sum of the weighted maxima over the tokens start:end of each passage.

    `rows` come from `interleaved`; `weights` (groups * 15,) are 0 beyond the question's rows; `base`
    (C, groups * 16) has one row per centroid; `levels` (16,) belong to the codes in `values` (T, bytes);
    `scales` (T,) are the bits of float16. Requires `is_fused`.
    """
    n_groups = rows.shape[0]
    n_steps = rows.shape[1]
    longest = 0
    for passage in range(starts.shape[0]):
        longest = max(longest, ends[passage] - starts[passage])
    unpacked = np.empty(longest * n_steps * GROUP, np.int8)
    maxima = np.empty(LANES, np.float32)
    for passage in range(starts.shape[0]):
        start = starts[passage]
        end = ends[passage]
        unpack(values, start, end, levels, unpacked)
        total = np.float32(0)
        for group in range(n_groups):
            _maxima(
                np.uintp(rows.ctypes.data + group * n_steps * LANES * GROUP),
                n_steps,
                np.uintp(unpacked.ctypes.data),
                end - start,
                np.uintp(scales.ctypes.data + 2 * start),
                np.uintp(centroids.ctypes.data + 2 * start),
                np.uintp(base.ctypes.data + group * LANES * 4),
                n_groups,
                np.uintp(maxima.ctypes.data),
            )
            for lane in range(ROWS):
                total += maxima[lane] * weights[group * ROWS + lane]
        sums[passage] = total


@instructions
def _code_maxima(_: Any, table: Any, stride: Any, codes: Any, n: Any, out: Any) -> Any:
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
def code_sums(table: Bytes, weights: Floats, codes: Shorts, starts: Ids, ends: Ids, sums: Floats) -> None:
    """Write `sums` (n,): the sum over r of weights[r] * max table[codes[start:end], r] for each passage.

    `table` is (C, R) and `weights` (R,), with R a multiple of 16; every code is below C.
    """
    width = table.shape[1]
    maxima = np.empty(LANES, np.uint8)
    for passage in range(starts.shape[0]):
        start = starts[passage]
        total = np.float32(0)
        for first in range(0, width, LANES):
            _code_maxima(
                np.uintp(table.ctypes.data + first),
                width,
                np.uintp(codes.ctypes.data + 2 * start),
                ends[passage] - start,
                np.uintp(maxima.ctypes.data),
            )
            for lane in range(LANES):
                total += np.float32(maxima[lane]) * weights[first + lane]
        sums[passage] = total


@compiled
def encode(
    vectors: Floats,
    residuals: Floats,
    levels: Floats,
    codes: Bytes,
    scales: Floats,
    along: np.float32,
) -> None:  # pragma: no cover
    """Fill codes (T, width) uint8 and scales (T,) float32 for vectors and residuals (T, width) float32."""
    for t in range(len(vectors)):
        x = vectors[t]
        r = residuals[t]
        code = codes[t]
        squares = np.float32(0)
        for j in range(len(r)):
            squares += r[j] * r[j]
        scale = np.sqrt(squares / np.float32(len(r)))
        if scale < SMALLEST:
            for j in range(len(r)):
                code[j] = 0
            scales[t] = 0
            continue
        for j in range(len(r)):
            code[j] = _nearest_level(levels, r[j] / scale, np.int64(0))
        for turn in range(_TURNS):
            scale = max(_best_scale(x, r, levels, code, along), np.float32(0))
            if not turn < _TURNS - 1 or scale == 0 or not _improve(x, r, levels, code, scale, along):
                break
        scales[t] = scale


@compiled
def _nearest_level(levels: Floats, y: Any, number: Any) -> Any:  # pragma: no cover
    # `<=` passes over equal levels, which training on a few numbers may give.
    while number + 1 < len(levels) and abs(levels[number + 1] - y) <= abs(levels[number] - y):
        number += 1
    while number > 0 and abs(levels[number - 1] - y) <= abs(levels[number] - y):
        number -= 1
    return number


@compiled
def _best_scale(
    x: Floats, r: Floats, levels: Floats, code: Bytes, along: np.float32
) -> Any:  # pragma: no cover
    rl = ll = xl = xr = np.float32(0)
    for j in range(len(r)):
        level = levels[code[j]]
        rl += r[j] * level
        ll += level * level
        xl += x[j] * level
        xr += x[j] * r[j]
    weight = ll + along * xl * xl
    return (rl + along * xr * xl) / weight if weight > 0 else np.float32(0)


@compiled
def _improve(
    x: Floats, r: Floats, levels: Floats, code: Bytes, scale: Any, along: np.float32
) -> bool:  # pragma: no cover
    ex = np.float32(0)  # <e, x>
    for j in range(len(r)):
        ex += (r[j] - scale * levels[code[j]]) * x[j]
    moved = False
    for j in range(len(r)):
        old = code[j]
        error = r[j] - scale * levels[old]
        step = (error + along * ex * x[j]) / (np.float32(1) + along * x[j] * x[j])
        new = _nearest_level(levels, levels[old] + step / scale, np.int64(old))
        if new != old:
            code[j] = new
            ex += scale * (levels[old] - levels[new]) * x[j]
            moved = True
    return moved


@compiled
def look_up(values: Bytes, table: Array, out: Array) -> None:
    """Write out[t, b] = table[values[t, b]]; `table` has 256 entries."""
    for token in range(values.shape[0]):
        for place in range(values.shape[1]):
            out[token, place] = table[values[token, place]]


@compiled
def add_centroids(centroids: Floats, codes: Shorts, scales: Floats, vectors: Floats) -> None:
    """Turn the levels in `vectors` (T, width) into vectors, in place: centroid + level * scale."""
    for token in range(vectors.shape[0]):
        centroid = centroids[codes[token]]
        scale = scales[token]
        vector = vectors[token]
        for column in range(vectors.shape[1]):
            vector[column] = centroid[column] + vector[column] * scale
