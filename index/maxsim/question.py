"""A question as the scans want it: rows of int8, and what its rows have to do with each centroid."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from .codebook import Codebook
from .int8_tokens import Int8Form

_LARGEST = 127
_LONGEST = 1.25  # no decoded token is longer: unit vectors, off by their quantisation


class Question:
    """The rows (m, width) float32 of one question for the tokens of one codebook.

    Row r is about weights[r] * codes[r], codes (m, width) int8; so is its similarity with a token, where the
    form's step has become part of the weight:

        weights[r] * (scale * (codes[r] . values) + base[centroid, r])
    """

    def __init__(self, rows: NDArray[np.float32], codebook: Codebook, form: Int8Form) -> None:
        self.rows = rows
        self.n_rows = len(rows)
        self._centroids = codebook.centroids
        self._form = form
        scales = np.abs(rows).max(axis=1) / np.float32(_LARGEST)
        scales[scales == 0] = 1
        self.scales: NDArray[np.float32] = scales
        self.codes: NDArray[np.int8] = np.rint(rows / scales[:, np.newaxis]).astype(np.int8)
        self.weights: NDArray[np.float32] = scales * np.float32(form.step)
        self._lost = rows - scales[:, np.newaxis] * self.codes

    def base(self, lanes: NDArray[np.int64], n_lanes: int) -> NDArray[np.float32]:
        """(C, n_lanes) float32, row r at lanes[r], other lanes 0; (1, n_lanes) of 0 when there is no base."""
        if self._form.levels is None:
            return np.zeros((1, n_lanes), np.float32)
        placed = np.zeros((n_lanes, self.rows.shape[1]), np.float32)
        placed[lanes] = self.rows / self.weights[:, np.newaxis]
        base: NDArray[np.float32] = self._centroids @ placed.T
        return base

    def slack(self, largest_scale: float, rounding: float) -> float:
        """How far the difference of two scanned scores may be from that of the exact ones.

        Each is off by at most what the rounding of rows and of levels can do to every maximum:
        sum over r of |row - its int8| * |token| + |row| * |level - its int8| * scale * sqrt(width)

        and by the `rounding` of the products, as a share of the lengths of their vectors.
        """
        of_rows = float(np.linalg.norm(self._lost, axis=1).sum()) * _LONGEST
        width = self.rows.shape[1]
        lengths = float(np.linalg.norm(self.rows, axis=1).sum())
        of_levels = lengths * self._form.error * largest_scale * sqrt(width)
        return 2 * (of_rows + of_levels + lengths * _LONGEST * rounding)
