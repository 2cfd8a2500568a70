"""Fewer token vectors for a passage: neighbours in meaning are replaced by their mean.

Within each passage the two clusters whose union adds least to the sum of squared distances from the means
are merged, until about 1 / factor of the rows is left (Ward's method); a cluster becomes the mean of its
vectors, brought back to length 1. The distance of two clusters after a merge is updated by

    d(i + j, k) = ((n_i + n_k) d(i, k) + (n_j + n_k) d(j, k) - n_k d(i, j)) / (n_i + n_j + n_k)

Source: Clavié, Chaffin and Adams, "Reducing the Footprint of Multi-Vector Retrieval with Minimal Performance
Impact via Token Pooling", 2024; Ward, "Hierarchical grouping to optimize an objective function", 1963, with
Lance and Williams' formula of 1967.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pool(
    vectors: NDArray[np.float32], lengths: NDArray[np.int64], factor: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The pooled vectors of all passages one after another, float32 unit rows, and how many each has.

    `vectors` (T, width) float32 unit rows, `lengths` (n,) of which the sum is T. A passage of m vectors keeps
    ceil(m / factor), in the order of the first token of each cluster; factor 1 changes nothing.
    """
    lengths = np.asarray(lengths, np.int64)
    if factor < 1:
        raise ValueError(f"pooling by {factor}, expected at least 1")
    if vectors.ndim != 2 or (lengths < 0).any() or int(lengths.sum()) != len(vectors):
        raise ValueError(f"lengths of {int(lengths.sum())} rows in all for vectors of shape {vectors.shape}")
    if factor == 1:
        return vectors, lengths
    kept = -(-lengths // factor)
    pooled = np.zeros((int(kept.sum()), vectors.shape[1]), np.float32)
    start = at = 0
    for length, n in zip(lengths.tolist(), kept.tolist(), strict=True):
        rows = vectors[start : start + length]
        np.add.at(pooled, at + _clusters(rows, n), rows)
        start, at = start + length, at + n
    norms = np.linalg.norm(pooled, axis=1, keepdims=True)
    pooled /= np.where(norms > 0, norms, 1)
    return pooled, kept


def _clusters(rows: NDArray[np.float32], n: int) -> NDArray[np.int64]:
    """(m,) the cluster of each of the (m, width) rows, 0 to n - 1 by the first row of each."""
    from .ward import merge

    owner = np.arange(len(rows))
    if n < len(rows):
        squares = (rows * rows).sum(1)
        distances = squares[:, None] + squares - 2 * (rows @ rows.T)  # (m, m)
        np.fill_diagonal(distances, np.inf)
        merge(distances, owner, n)
    clusters: NDArray[np.int64] = np.unique(owner, return_inverse=True)[1].ravel()
    return clusters
