"""k-means: so many centroids that the vectors of a sample lie near one of them.

Source: Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .nearest import nearest

LARGEST = 65_536  # a code is 16 bits
_ROUNDS = 6
_PER_CENTROID = 4  # vectors of the sample for each centroid, at least


def n_centroids(n_tokens: int, n_sample: int) -> int:
    """How many centroids serve a collection: 2 ** floor(log2(16 * sqrt(n_tokens))), if the sample allows.

    Source: Santhanam et al., "PLAID", CIKM 2022, section 4.1 (and the code published with it). At most a
    quarter of the sample and 65,536; at least 1.

    >>> n_centroids(3_000_000, 200_000)
    16384
    """
    wanted = 2 ** math.floor(math.log2(16 * math.sqrt(max(n_tokens, 1))))
    return max(1, min(wanted, n_sample // _PER_CENTROID, LARGEST))


def kmeans(sample: NDArray[np.float32], k: int, *, seed: int, rounds: int = _ROUNDS) -> NDArray[np.float32]:
    """(k, width) float32: the means of the vectors nearest to each, after so many rounds.

    It starts from k different rows of the sample. A centroid that no vector is nearest to stays where it was.
    Requires 1 <= k <= len(sample).
    """
    random = np.random.default_rng(seed)
    centroids = sample[np.sort(random.choice(len(sample), k, replace=False))].astype(np.float32)
    for _ in range(rounds):
        places = nearest(centroids, sample)
        counts = np.bincount(places, minlength=k)
        used = counts > 0
        centroids[used] = _sums(sample, places, k)[used] / counts[used, None].astype(np.float32)
    return centroids


def _sums(sample: NDArray[np.float32], places: NDArray[np.int64], k: int) -> NDArray[np.float32]:
    """(k, width) the sum of the vectors at each place."""
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(k))
    empty = starts == np.append(starts[1:], len(order))
    sums = np.add.reduceat(sample[order], starts.clip(max=len(order) - 1), axis=0)
    sums[empty] = 0
    return sums.astype(np.float32)
