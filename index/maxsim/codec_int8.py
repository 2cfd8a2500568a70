"""int8 codes: x ~ scale * value, with a whole number from -127 to 127 for each number of the vector.

The scale is the largest absolute number of the vector / 127; the centroid takes no part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST = 127


def encode_int8(vectors: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """The values (T, width), int8 seen as uint8, and the scales (T,) float16 of vectors (T, width)."""
    largest = np.abs(vectors).max(1)
    scales = np.nextafter((largest / LARGEST).astype(np.float16), np.float16(np.inf))
    values = np.rint(vectors / scales[:, None].astype(np.float32)).clip(-LARGEST, LARGEST)
    return values.astype(np.int8).view(np.uint8), scales


def decode_int8(values: NDArray[np.uint8], scales: NDArray[np.float16]) -> NDArray[np.float32]:
    """(T, width) float32: scale * value."""
    return values.view(np.int8).astype(np.float32) * scales[:, None].astype(np.float32)
