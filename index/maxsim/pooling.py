"""Token pooling: fewer token vectors for a passage, each the mean of some that are alike.

The tokens of a passage are clustered from the bottom up: the two clusters of highest mean similarity become
one, until ceil(tokens / factor) are left. A cluster's vector is the mean of its tokens, of length 1 again.

Source: Clavié, Chaffin and Adams, "Reducing the Footprint of Multi-Vector Retrieval with Minimal Performance
Impact via Token Pooling", 2024. Deviation: mean similarity (UPGMA) instead of Ward's method, which takes
nothing but numpy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Tokens = tuple[NDArray[np.float32], NDArray[np.int64]]


def pooled(vectors: NDArray[np.float32], lengths: NDArray[np.int64], factor: int) -> Tokens:
    """The vectors (T', dim) and lengths (n,) of passages of `lengths` (n,) after pooling; unit rows.

    A factor of 1 changes nothing. Rows of a passage stay in the order of their clusters' first tokens.

    >>> rows = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    >>> pooled(rows, np.array([3]), 2)[0].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if factor < 1:
        raise ValueError(f"at least 1 token shares a vector, not {factor}")
    if factor == 1 or not len(lengths):
        return vectors, lengths
    parts = [_pooled_one(rows, factor) for rows in np.split(vectors, np.cumsum(lengths)[:-1])]
    return np.concatenate(parts), np.array([len(part) for part in parts], np.int64)


def _pooled_one(rows: NDArray[np.float32], factor: int) -> NDArray[np.float32]:
    labels = clusters(rows, -(-len(rows) // factor))
    sums = np.zeros((labels.max() + 1, rows.shape[1]), np.float32)
    np.add.at(sums, labels, rows)
    sizes = np.linalg.norm(sums, axis=1, keepdims=True)
    firsts = rows[np.unique(labels, return_index=True)[1]]
    return np.where(sizes > 1e-6, sums / np.maximum(sizes, 1e-6), firsts)  # opposites have no mean


def clusters(rows: NDArray[np.float32], n: int) -> NDArray[np.int64]:
    """The cluster of each of the rows (t, dim), numbered by their first rows, when `n` of them are left."""
    labels = np.arange(len(rows))
    likeness = (rows @ rows.T).astype(np.float64)  # mean similarity of clusters, at their first rows
    sizes = np.ones(len(rows))
    np.fill_diagonal(likeness, -np.inf)
    for _ in range(len(rows) - n):
        i, j = sorted(divmod(int(likeness.argmax()), len(rows)))
        merged = (sizes[i] * likeness[i] + sizes[j] * likeness[j]) / (sizes[i] + sizes[j])
        likeness[i], likeness[:, i] = merged, merged
        likeness[i, i] = -np.inf
        likeness[j], likeness[:, j] = -np.inf, -np.inf
        sizes[i] += sizes[j]
        labels[labels == j] = i
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
