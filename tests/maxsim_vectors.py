"""Token vectors made of chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def unit(n: int, width: int, seed: int = 0) -> NDArray[np.float32]:
    """(n, width) float32, rows of length 1."""
    vectors = np.random.default_rng(seed).standard_normal((n, width), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
