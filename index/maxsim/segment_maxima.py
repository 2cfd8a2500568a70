"""For each passage and each column the largest similarity among its tokens, from products made before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled


@compiled
def segment_maxima(
    products: NDArray[np.int32] | NDArray[np.float32],
    scales: NDArray[np.float32],
    base: NDArray[np.float32],
    centroids: NDArray[np.uint16],
    ends: NDArray[np.int64],
    maxima: NDArray[np.float32],
) -> None:
    """Write `maxima` (n, M): over the tokens t of passage p, the largest scales[t] * products[t, m] + base.

    `products` (T, M), `scales` (T,), `ends` (n,) where the tokens of each passage end. The base is that of
    the token's centroid, base[centroids[t], m]; none is added when `base` has one row (of 0).
    """
    n_columns = maxima.shape[1]
    has_base = base.shape[0] > 1
    start = 0
    for passage in range(ends.shape[0]):
        highest = maxima[passage]
        highest[:] = -np.inf
        for token in range(start, ends[passage]):
            row, scale = products[token], scales[token]
            if has_base:
                added = base[centroids[token]]
                for column in range(n_columns):
                    highest[column] = max(highest[column], np.float32(row[column]) * scale + added[column])
            else:
                for column in range(n_columns):
                    highest[column] = max(highest[column], np.float32(row[column]) * scale)
        start = ends[passage]
