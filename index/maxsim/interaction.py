"""Which passages are worth all their tokens: scores in which each token stands for its centroid.

    sum over question rows r of max over tokens t of <q_r, centroid of t>

The similarities of question rows with centroids are a table of bytes, small enough for a processor's cache,
and a passage is a run of codes into it: two bytes read a token, instead of 36 to 132.

Source: Santhanam et al., "PLAID: An Efficient Engine for Late Interaction Retrieval", CIKM 2022, section 4.2.
Theirs drops centroids that are far from the question and keeps float scores; ours looks at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .code_maxima import LANES, code_sums
from .codec_int8 import encode_int8
from .compiled import compiled
from .products import Int8Rows
from .question import Question
from .stored_tokens import StoredTokens

_LEVELS = 255


@dataclass(frozen=True, slots=True)
class CentroidTable:
    """`levels` (C, R) uint8: how near each centroid is to each question row, in steps of `steps` (R,).

    R is a multiple of 16; the columns beyond the rows of the question have steps of 0.
    """

    levels: NDArray[np.uint8]
    steps: NDArray[np.float32]
    n_rows: int


class Interaction:
    """The centroids of one codebook as int8, and the tokens that have them."""

    def __init__(self, stored: StoredTokens, centroids: NDArray[np.float32]) -> None:
        self._stored = stored
        values, scales = encode_int8(centroids)
        self._values = values.view(np.int8)
        self._scales = scales.astype(np.float32)

    def table(self, question: Question) -> CentroidTable:
        """The similarities of all centroids with a question's rows."""
        products = Int8Rows(question.codes).products(self._values)
        levels = np.zeros((len(products), -(-question.n_rows // LANES) * LANES), np.uint8)
        steps = np.zeros(levels.shape[1], np.float32)
        quantise(products, self._scales, question.scales, levels, steps)
        return CentroidTable(levels, steps, question.n_rows)

    def scores(self, table: CentroidTable, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """(n,) the score of each of these rows, ascending, by centroids, less a constant; None means all."""
        scores = np.empty(len(self._stored) if rows is None else len(rows), np.float32)
        at = 0
        for part in self._stored.parts:
            starts, ends = part.starts, part.ends
            if rows is not None:
                first, last = np.searchsorted(rows, (part.first, part.first + len(starts)))
                here = rows[first:last] - part.first
                starts, ends = starts[here], ends[here]
            to = scores[at : at + len(starts)]
            code_sums(table.levels, table.steps, part.codes.centroids, starts, ends, to)
            at += len(starts)
        return scores


@compiled
def quantise(
    products: NDArray[np.int32] | NDArray[np.float32],
    scales: NDArray[np.float32],
    row_scales: NDArray[np.float32],
    levels: NDArray[np.uint8],
    steps: NDArray[np.float32],
) -> None:
    """Write the `levels` (C, R) of scales[c] * products[c, r], a column's lowest 0 and its highest 255.

    `steps[r]` is that of the column times row_scales[r], for the rows (m,) that there are; the rest is left.
    """
    n_rows, width = row_scales.shape[0], products.shape[1]
    lowest, highest = np.empty(width, np.float32), np.empty(width, np.float32)
    for row in range(width):
        lowest[row], highest[row] = np.inf, -np.inf
    for centroid in range(products.shape[0]):
        scale = scales[centroid]
        for row in range(width):
            similarity = np.float32(products[centroid, row]) * scale
            lowest[row] = min(lowest[row], similarity)
            highest[row] = max(highest[row], similarity)
    factors = np.zeros(width, np.float32)
    for row in range(n_rows):
        if highest[row] > lowest[row]:
            factors[row] = np.float32(_LEVELS) / (highest[row] - lowest[row])
            steps[row] = row_scales[row] / factors[row]
    for centroid in range(products.shape[0]):
        scale = scales[centroid]
        for row in range(width):
            similarity = np.float32(products[centroid, row]) * scale
            level = (similarity - lowest[row]) * factors[row] + np.float32(0.5)
            levels[centroid, row] = np.uint8(np.int32(level))
