"""Codes and scale of each token's residual, compiled: the loops behind `codec_residual.encode_residuals`."""

from __future__ import annotations

import numpy as np
from numba import njit

SMALLEST = 1e-6  # root mean square of a residual that is taken for none
TURNS = 3  # codes, scale, codes, scale, ...


@njit(cache=True)
def encode(vectors, residuals, levels, codes, scales, along):  # type: ignore[no-untyped-def] # pragma: no cover
    """Fill codes (T, width) uint8 and scales (T,) float32 for vectors and residuals (T, width) float32."""
    for t in range(len(vectors)):
        x, r, code = vectors[t], residuals[t], codes[t]
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
        for turn in range(TURNS):
            scale = _best_scale(x, r, levels, code, along)
            if not turn < TURNS - 1 or scale <= 0 or not _improve(x, r, levels, code, scale, along):
                break
        scales[t] = scale


@njit(cache=True)
def _nearest_level(levels, y, at):  # type: ignore[no-untyped-def] # pragma: no cover
    while at + 1 < len(levels) and abs(levels[at + 1] - y) < abs(levels[at] - y):
        at += 1
    while at > 0 and abs(levels[at - 1] - y) < abs(levels[at] - y):
        at -= 1
    return at


@njit(cache=True)
def _best_scale(x, r, levels, code, along):  # type: ignore[no-untyped-def] # pragma: no cover
    rl = ll = xl = xr = np.float32(0)
    for j in range(len(r)):
        level = levels[code[j]]
        rl += r[j] * level
        ll += level * level
        xl += x[j] * level
        xr += x[j] * r[j]
    weight = ll + along * xl * xl
    return (rl + along * xr * xl) / weight if weight > 0 else np.float32(0)


@njit(cache=True)
def _improve(x, r, levels, code, scale, along):  # type: ignore[no-untyped-def] # pragma: no cover
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
