"""k-means for a codebook: how many centroids, and which."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .lloyd import lloyd
from .nearest import Nearest

LARGEST = 65_536  # a code is 16 bits
PER_CENTROID = 4  # vectors of the sample for each centroid, at least


def n_centroids(n_tokens: int, n_sample: int) -> int:
    """How many centroids serve a collection: 2 ** floor(log2(16 * sqrt(n_tokens))), if the sample allows.

    Source: Santhanam et al., "PLAID", CIKM 2022 (the rule of its published code). At most a
    quarter of the sample and 65,536; at least 1.

    >>> n_centroids(3_000_000, 200_000)
    16384
    """
    wanted = 2 ** math.floor(math.log2(16 * math.sqrt(max(n_tokens, 1))))
    return max(1, min(int(wanted), n_sample // PER_CENTROID, LARGEST))


def kmeans(sample: NDArray[np.float32], k: int, *, seed: int) -> NDArray[np.float32]:
    """(k, width) float32: the means of the vectors nearest to each; requires 1 <= k <= len(sample)."""
    return lloyd(sample, k, seed=seed, finder=Nearest.build)[0]
