"""Passages after passages, in portions of a bounded number of tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def runs(sizes: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Places after places, each with sizes of at most `most` together, or one that is larger alone.

    >>> [(run.start, run.stop) for run in runs(np.array([2, 3, 9, 1, 1]), 5)]
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = ends[first - 1] if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(first, end)
        first = end
