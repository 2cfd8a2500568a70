"""Inverted lists: which passages have a token at each centroid.

They are made in memory, out of the centroids on the disk, when a large collection is searched for the first
time. Rows are cut into blocks of 65,536, within which two bytes name a passage: that is two bytes for each
centroid of each passage, and 256 KiB a block for where the lists end.

Source: Santhanam et al., "PLAID: An Efficient Engine for Late Interaction Retrieval", CIKM 2022, section 4.1:
there, as here, lists hold passages and not tokens, and question rows probe their nearest centroids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .interaction import CentroidTable
from .stored_tokens import StoredTokens

_BLOCK = 65_536  # rows
_PROBED = 8  # centroids of each question row, at first
_SPARE = 2  # passages to be found for each candidate


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows `first` to `first + n`: those with a token at centroid c are rows[ends[c] : ends[c + 1]]."""

    first: int
    n: int
    ends: NDArray[np.uint32]
    rows: NDArray[np.uint16]


class InvertedLists:
    """The lists of all rows of the stored tokens."""

    def __init__(self, blocks: Sequence[_Block]) -> None:
        self._blocks = tuple(blocks)
        self._n_rows = sum(block.n for block in blocks)

    @classmethod
    def build(cls, stored: StoredTokens) -> InvertedLists:
        """The lists of these tokens, by one pass over their centroids."""
        n_centroids = len(stored.codebook.centroids)
        blocks = []
        for part in stored.parts:
            codes = part.codes.centroids
            for first in range(0, len(part.starts), _BLOCK):
                starts, ends = part.starts[first : first + _BLOCK], part.ends[first : first + _BLOCK]
                list_ends = np.zeros(n_centroids + 1, np.uint32)
                count_rows(codes, starts, ends, list_ends)
                np.cumsum(list_ends, out=list_ends)
                rows = np.empty(int(list_ends[-1]), np.uint16)
                fill_rows(codes, starts, ends, list_ends[:-1].copy(), rows)
                blocks.append(_Block(part.first + first, len(starts), list_ends, rows))
        return cls(blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(block.ends.nbytes + block.rows.nbytes for block in self._blocks)

    def rows(self, table: CentroidTable, n: int) -> NDArray[np.int64]:
        """At least 2n rows (all, if there are fewer), ascending: those near any row of a question.

        Each row of the question probes its nearest centroids, twice as many each time until enough rows of
        the collection were found.
        """
        n_centroids = len(table.levels)
        n_probed = min(_PROBED, n_centroids)
        while True:
            found = self._near(table, n_probed)
            if len(found) >= min(_SPARE * n, self._n_rows) or n_probed == n_centroids:
                return found
            n_probed = min(2 * n_probed, n_centroids)

    def _near(self, table: CentroidTable, n_probed: int) -> NDArray[np.int64]:
        """The rows with a token at one of the `n_probed` centroids that are nearest to a question row."""
        kth = len(table.levels) - n_probed
        columns = np.ascontiguousarray(table.levels[:, : table.n_rows].T)
        probed = np.unique(np.argpartition(columns, kth, axis=1)[:, kth:])
        found = [np.empty(0, np.int64)]
        for block in self._blocks:
            is_near = np.zeros(block.n, np.bool_)
            mark_rows(block.ends, block.rows, probed, is_near)
            found.append(np.flatnonzero(is_near) + block.first)
        return np.concatenate(found)


@compiled
def count_rows(
    codes: NDArray[np.uint16], starts: NDArray[np.int64], ends: NDArray[np.int64], counts: NDArray[np.uint32]
) -> None:
    """Count for each centroid c, at counts[c + 1], the passages with a token there."""
    last = np.full(counts.shape[0], -1, np.int32)
    for row in range(starts.shape[0]):
        for token in range(starts[row], ends[row]):
            code = codes[token]
            if last[code] != row:
                last[code] = row
                counts[code + 1] += np.uint32(1)


@compiled
def fill_rows(
    codes: NDArray[np.uint16],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    places: NDArray[np.uint32],
    rows: NDArray[np.uint16],
) -> None:
    """Write the passages of each centroid c from rows[places[c]] on; `places` is used up."""
    last = np.full(places.shape[0], -1, np.int32)
    for row in range(starts.shape[0]):
        for token in range(starts[row], ends[row]):
            code = codes[token]
            if last[code] != row:
                last[code] = row
                rows[places[code]] = row
                places[code] += np.uint32(1)


@compiled
def mark_rows(
    ends: NDArray[np.uint32],
    rows: NDArray[np.uint16],
    probed: NDArray[np.int64],
    is_near: NDArray[np.bool_],
) -> None:
    """Set is_near[row] for the rows in the lists of the centroids probed."""
    for number in range(probed.shape[0]):
        centroid = probed[number]
        for place in range(ends[centroid], ends[centroid + 1]):
            is_near[rows[place]] = True
