"""Stored tokens as float32, the bits of `Codebook.decode` in a fraction of its time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .codebook import BITS, Codebook
from .compiled import compiled
from .token_codes import TokenCodes


def decoded(codebook: Codebook, codes: TokenCodes) -> NDArray[np.float32]:
    """(T, width) float32: what scores are defined by, of codes that were read with this codebook."""
    places = (np.arange(256)[:, np.newaxis] >> np.arange(0, 8, BITS)) & (2**BITS - 1)
    pairs = codebook.levels[places].view(np.uint64)  # (256, 1): the levels of a byte
    vectors = np.empty((len(codes), codebook.width), np.float32)
    look_up(codes.values, pairs, vectors.view(np.uint64))
    add_centroids(codebook.centroids, codes.centroids, codes.scales.astype(np.float32), vectors)
    return vectors


@compiled
def look_up(values: NDArray[np.uint8], pairs: NDArray[np.uint64], found: NDArray[np.uint64]) -> None:
    """Write `found` (T, bytes * P): for each byte of values (T, bytes) the row of `pairs` (256, P)."""
    n_pairs = pairs.shape[1]
    for token in range(values.shape[0]):
        for place in range(values.shape[1]):
            byte = values[token, place]
            for number in range(n_pairs):
                found[token, place * n_pairs + number] = pairs[byte, number]


@compiled
def add_centroids(
    centroids: NDArray[np.float32],
    codes: NDArray[np.uint16],
    scales: NDArray[np.float32],
    vectors: NDArray[np.float32],
) -> None:
    """Make of the levels in `vectors` (T, width) the vectors: centroid + level * scale."""
    for token in range(vectors.shape[0]):
        centroid, scale, vector = centroids[codes[token]], scales[token], vectors[token]
        for column in range(vectors.shape[1]):
            vector[column] = centroid[column] + vector[column] * scale
