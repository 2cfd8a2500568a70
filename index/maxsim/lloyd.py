"""Rounds of k-means in which every vector is compared with every centroid, or as `nearest` says.

Source: Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 6
_BLOCK = 8192

Finder = Callable[[NDArray[np.float32]], NDArray[np.int64]]


def lloyd(
    sample: NDArray[np.float32],
    k: int,
    *,
    seed: int,
    finder: Callable[[NDArray[np.float32]], Finder] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """k centroids (k, width) float32, and the row of each vector's nearest, (S,).

    It starts from k different rows of the sample. A centroid that no vector is nearest to stays where it was.
    `finder` makes of centroids what finds the nearest; requires 1 <= k <= len(sample).
    """
    random = np.random.default_rng(seed)
    centroids = sample[np.sort(random.choice(len(sample), k, replace=False))].astype(np.float32)
    find = finder or _all
    for _ in range(_ROUNDS if k > 1 else 1):
        places = find(centroids)(sample)
        centroids = _means(sample, places, centroids)
    return centroids, find(centroids)(sample)


def _all(centroids: NDArray[np.float32]) -> Finder:
    """Compares with all centroids, a block of vectors at a time."""
    halves = (centroids * centroids).sum(1) / 2

    def find(vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        blocks = [vectors[at : at + _BLOCK] for at in range(0, len(vectors), _BLOCK)]
        places = [(block @ centroids.T - halves).argmax(1) for block in blocks]
        return np.concatenate([np.empty(0, np.int64), *places])

    return find


def _means(
    sample: NDArray[np.float32], places: NDArray[np.int64], centroids: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The mean of the vectors at each place; the centroid that was there where there is none."""
    counts = np.bincount(places, minlength=len(centroids))
    used = counts > 0
    starts = (np.cumsum(counts) - counts)[used]
    sums = np.add.reduceat(sample[np.argsort(places, kind="stable")], starts, axis=0)
    means = centroids.copy()
    means[used] = sums / counts[used, None].astype(np.float32)
    return means
