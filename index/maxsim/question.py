"""A question as the scans want it: rows of int8, and what its rows have to do with each centroid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import VectorRejected

from .codebook import Codebook
from .int8_tokens import Int8Form

_LARGEST = 127
_LONGEST = 1.25  # no decoded token is longer: unit vectors, off by their quantisation
_ROUNDING = 1e-5  # of float32 sums, for each row


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
        scales = np.abs(rows).max(axis=1, keepdims=True) / np.float32(_LARGEST)
        scales[scales == 0] = 1
        self.codes: NDArray[np.int8] = np.rint(rows / scales).astype(np.int8)
        self.weights: NDArray[np.float32] = (scales[:, 0] * np.float32(form.step)).astype(np.float32)
        self._lost = rows - scales * self.codes

    @cached_property
    def similarities(self) -> NDArray[np.float32]:
        """(C, m) with each centroid."""
        return self._centroids @ self.rows.T

    def base(self, n_lanes: int) -> NDArray[np.float32]:
        """(C, n_lanes) float32, lanes beyond the rows 0; (1, n_lanes) of 0 when values have no base."""
        if self._form.table is None:
            return np.zeros((1, n_lanes), np.float32)
        base = np.zeros((len(self._centroids), n_lanes), np.float32)
        np.divide(self.similarities, self.weights, out=base[:, : self.n_rows])
        return base

    def slack(self, largest_scale: float) -> float:
        """How far the difference of two scanned scores may be from that of the exact ones.

        Each is off by at most what the rounding of rows and of levels can do to every maximum:
        sum over r of |row - its int8| * |token| + |row| * |level - its int8| * scale * sqrt(width).
        """
        of_rows = float(np.linalg.norm(self._lost, axis=1).sum()) * _LONGEST
        width = self.rows.shape[1]
        of_levels = float(np.linalg.norm(self.rows, axis=1).sum()) * self._form.error * largest_scale
        return 2 * (of_rows + of_levels * width**0.5 + _ROUNDING * self.n_rows)


def check_questions(questions: Sequence[NDArray[np.float32]], width: int) -> None:
    """Refuse what is not (rows, width) float32, finite and with at least one row."""
    for number, rows in enumerate(questions):
        if rows.ndim != 2 or not len(rows) or rows.shape[1] != width or rows.dtype != np.float32:
            raise VectorRejected(
                f"question {number} has shape {rows.shape} of {rows.dtype}, expected (rows, {width}) float32"
            )
        if not np.isfinite(rows).all():
            raise VectorRejected(f"question {number} holds NaN or infinity")
