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
from .compiled import compiled
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
    """The centroids of one codebook, and the tokens that have them."""

    def __init__(self, stored: StoredTokens, centroids: NDArray[np.float32]) -> None:
        self._stored = stored
        self._centroids = centroids

    def table(self, question: Question) -> CentroidTable:
        """The similarities of all centroids with a question's rows."""
        similarities: NDArray[np.float32] = self._centroids @ question.rows.T
        levels = np.zeros((len(similarities), -(-question.n_rows // LANES) * LANES), np.uint8)
        steps = np.zeros(levels.shape[1], np.float32)
        quantise(similarities, levels, steps)
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
    similarities: NDArray[np.float32], levels: NDArray[np.uint8], steps: NDArray[np.float32]
) -> None:
    """Write the `levels` (C, R) of similarities (C, m), a column's lowest 0 and its highest 255.

    `steps[r]` is that of a column, for the m there are; the rest is left.
    """
    n_rows = similarities.shape[1]
    lowest, highest = np.full(n_rows, np.inf, np.float32), np.full(n_rows, -np.inf, np.float32)
    for centroid in range(similarities.shape[0]):
        for row in range(n_rows):
            lowest[row] = min(lowest[row], similarities[centroid, row])
            highest[row] = max(highest[row], similarities[centroid, row])
    factors = np.zeros(n_rows, np.float32)
    for row in range(n_rows):
        if highest[row] > lowest[row]:
            factors[row] = np.float32(_LEVELS) / (highest[row] - lowest[row])
            steps[row] = np.float32(1) / factors[row]
    for centroid in range(similarities.shape[0]):
        for row in range(n_rows):
            level = (similarities[centroid, row] - lowest[row]) * factors[row] + np.float32(0.5)
            levels[centroid, row] = np.uint8(np.int32(level))
