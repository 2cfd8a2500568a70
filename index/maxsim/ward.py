"""Ward's method over one passage's tokens, compiled: the loops behind `pooling.pool`."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def merge(distances, owner, n):  # type: ignore[no-untyped-def] # pragma: no cover
    """Merge rows until n clusters are left; `owner` (m,) becomes the first row of each row's cluster.

    `distances` (m, m) float32, squared, infinite on the diagonal; it is overwritten. Ties: the lowest rows.
    """
    m = len(distances)
    sizes = np.ones(m, np.float32)
    nearest = np.empty(m, np.int64)
    for i in range(m):
        nearest[i] = _closest(distances, i)
    for _ in range(m - n):
        i = 0
        for k in range(m):
            if sizes[k] > 0 and (sizes[i] == 0 or distances[k, nearest[k]] < distances[i, nearest[i]]):
                i = k
        j = nearest[i]
        i, j = min(i, j), max(i, j)
        between = distances[i, j]
        for k in range(m):
            if sizes[k] > 0 and k != i and k != j:
                own, other = sizes[i] + sizes[k], sizes[j] + sizes[k]
                joined = own * distances[i, k] + other * distances[j, k] - sizes[k] * between
                distances[i, k] = distances[k, i] = joined / (own + sizes[j])
            distances[j, k] = distances[k, j] = np.inf
        sizes[i] += sizes[j]
        sizes[j] = 0
        for k in range(m):
            if owner[k] == j:
                owner[k] = i
            if sizes[k] > 0 and (k == i or nearest[k] == i or nearest[k] == j):
                nearest[k] = _closest(distances, k)


@njit(cache=True)
def _closest(distances, i):  # type: ignore[no-untyped-def] # pragma: no cover
    best = 0
    for k in range(len(distances)):
        if distances[i, k] < distances[i, best]:
            best = k
    return best
