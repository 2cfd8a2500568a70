"""The codes of token vectors, as they lie on the disk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TokenCodes:
    """The codes of T tokens: what `Codebook.decode` makes vectors of.

    centroids  (T,) uint16                     the nearest centroid
    values     (T, width * bits / 8) uint8     the quantised numbers, the first of a byte in its lowest bits
    scales     (T,) float16                    what the numbers are multiplied by
    """

    centroids: NDArray[np.uint16]
    values: NDArray[np.uint8]
    scales: NDArray[np.float16]

    def __post_init__(self) -> None:
        """Refuse columns of unequal length."""
        if not len(self.centroids) == len(self.values) == len(self.scales):
            found = (len(self.centroids), len(self.values), len(self.scales))
            raise ValueError(f"columns of {found} tokens, expected equal lengths")

    def __len__(self) -> int:
        """Tokens."""
        return len(self.centroids)

    @property
    def nbytes(self) -> int:
        """The size on the disk."""
        return int(self.centroids.nbytes + self.values.nbytes + self.scales.nbytes)
