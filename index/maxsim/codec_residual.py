"""Residual codes: what a vector is beyond its centroid, in 2 or 4 bits a number.

    x  ~  centroid + scale * levels[code_j]  for each number j

`levels` are the 2 ** bits numbers that quantise the residuals of the training sample with the smallest mean
squared error, after each residual was divided by its root mean square. Codes and scale of a token are then
changed in turn, a number at a time, to make smaller

    |e|^2 + ALONG * <e, x>^2,   e = x - decoded

because a question's vector that finds its match in x points along x more than in any other direction.

Source: Lloyd (1982) and Max, "Quantizing for minimum distortion", 1960, for the levels; Guo et al.,
"Accelerating large-scale inference with anisotropic vector quantization", ICML 2020, for the weight along x;
Santhanam et al., "ColBERTv2", NAACL 2022, section 3.3, for centroid and residual.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

ALONG = 4.0
_ROUNDS = 50
_SMALLEST = 1e-6
_ENOUGH = 2048  # numbers that levels can be made of


def train_levels(residuals: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """(2 ** bits,) float32, ascending: the Lloyd-Max levels of the normalised residuals (S, width).

    Where there are too few of them, or too many alike, to tell the levels apart: those of the normal
    distribution, which residuals come near to.
    """
    length = np.sqrt((residuals**2).mean(1))
    numbers = np.sort((residuals[length > _SMALLEST] / length[length > _SMALLEST, None]).ravel())
    if len(numbers) >= _ENOUGH:
        levels = _lloyd_max(numbers.astype(np.float64), bits)
        if (levels[1:] > levels[:-1]).all():
            return levels
    normal = NormalDist()
    return _lloyd_max(np.array([normal.inv_cdf((n + 0.5) / _ENOUGH) for n in range(_ENOUGH)]), bits)


def _lloyd_max(numbers: NDArray[np.float64], bits: int) -> NDArray[np.float32]:
    """The levels of these numbers, which ascend."""
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    levels = np.quantile(numbers, (np.arange(2**bits) + 0.5) / 2**bits)
    for _ in range(_ROUNDS):
        edges = np.searchsorted(numbers, (levels[1:] + levels[:-1]) / 2)
        starts, ends = np.append(0, edges), np.append(edges, len(numbers))
        filled = ends > starts
        levels[filled] = ((sums[ends] - sums[starts]) / (ends - starts).clip(min=1))[filled]
    return np.sort(levels).astype(np.float32)


def encode_residuals(
    vectors: NDArray[np.float32], centers: NDArray[np.float32], levels: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """The codes (T, width) uint8, one a number, and the scales (T,) float16 of vectors with these centroids.

    Vectors and centers: (T, width) float32. A vector that is its centroid has the scale 0.
    """
    from .residual_kernel import encode

    codes = np.empty(vectors.shape, np.uint8)
    scales = np.empty(len(vectors), np.float32)
    encode(vectors, vectors - centers, levels, codes, scales, np.float32(ALONG))
    return codes, scales.astype(np.float16)


def decode_residuals(
    codes: NDArray[np.uint8], scales: NDArray[np.float16], levels: NDArray[np.float32]
) -> NDArray[np.float32]:
    """(T, width) float32: scale * levels[code]."""
    return levels[codes] * scales[:, None].astype(np.float32)
