"""Residual codes: what a vector is beyond its centroid, in 2 or 4 bits a number.

    x  ~  centroid + scale * levels[code_j]  for each number j

`levels` are the 2 ** bits numbers that quantise the residuals of the training sample with the smallest mean
squared error, after each residual was divided by its root mean square. The scale of a token is the one that
makes its own squared error smallest given its codes, sum_j r_j levels[code_j] / sum_j levels[code_j]^2.

Source: Lloyd (1982) and Max, "Quantizing for minimum distortion", 1960, for the levels; Santhanam et al.,
"ColBERTv2", NAACL 2022, section 3.3, for centroid and residual.
Theirs has one table of quantiles and no scale.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 50
_SMALLEST = float(np.finfo(np.float16).tiny)


def train_levels(residuals: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """(2 ** bits,) float32, ascending: the Lloyd-Max levels of the normalised residuals (S, width)."""
    length = np.sqrt((residuals**2).mean(1))
    numbers = (residuals[length > _SMALLEST] / length[length > _SMALLEST, None]).ravel()
    if not len(numbers):
        numbers = np.linspace(-2, 2, 2**bits).astype(np.float32)
    numbers = np.sort(numbers).astype(np.float64)
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    levels = np.quantile(numbers, (np.arange(2**bits) + 0.5) / 2**bits)
    for _ in range(_ROUNDS):
        edges = np.searchsorted(numbers, (levels[1:] + levels[:-1]) / 2)
        starts, ends = np.append(0, edges), np.append(edges, len(numbers))
        filled = ends > starts
        levels[filled] = ((sums[ends] - sums[starts]) / (ends - starts).clip(min=1))[filled]
    return np.sort(levels).astype(np.float32)


def encode_residuals(
    residuals: NDArray[np.float32], levels: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """The codes (T, width) uint8, one a number, and the scales (T,) float16 of residuals (T, width)."""
    length = np.sqrt((residuals**2).mean(1, keepdims=True)).clip(min=_SMALLEST)
    codes = np.searchsorted((levels[1:] + levels[:-1]) / 2, residuals / length).astype(np.uint8)
    chosen = levels[codes]
    energy = np.einsum("td,td->t", chosen, chosen)
    product = np.einsum("td,td->t", residuals, chosen)
    scales = np.divide(product, energy, out=np.zeros_like(product), where=energy > 0)
    return codes, scales.astype(np.float16)


def decode_residuals(
    codes: NDArray[np.uint8], scales: NDArray[np.float16], levels: NDArray[np.float32]
) -> NDArray[np.float32]:
    """(T, width) float32: scale * levels[code]."""
    return levels[codes] * scales[:, None].astype(np.float32)
