"""The live vectors of one model, taken as the rows of one matrix that stays on the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .sorted_ids import RowsById
from .vectors import VectorSegment

BLOCK = 65_536  # rows that a pass over all vectors looks at together


class StoredVectors:
    """Row i belongs to `passage_ids[i]`; rows follow the segments, and within one the ids.

    Either every byte of the segments was compared with its digest before (`checked`), or each vector is
    compared with its sum when it is read for the first time.
    """

    def __init__(
        self,
        segments: Sequence[VectorSegment],
        kept: Sequence[NDArray[np.int64]],
        trusted: Sequence[NDArray[np.bool_]],
    ) -> None:
        """Of each segment the rows `kept`; `trusted` (its rows,) are those that need no comparison."""
        self._segments = tuple(segments)
        self._kept = tuple(kept)
        self._trusted = tuple(trusted)
        self._ends = np.cumsum([len(rows) for rows in kept])
        ids = [segment.passage_ids[rows] for segment, rows in zip(segments, kept, strict=True)]
        self.passage_ids: NDArray[np.int64] = np.concatenate([np.empty(0, np.int64), *ids])

    @classmethod
    def live(
        cls, segments: Sequence[VectorSegment], deleted: NDArray[np.int64], checked: bool
    ) -> StoredVectors:
        """What is not deleted of at least one segment, all of one model and width."""
        kept = [np.flatnonzero(np.isin(each.passage_ids, deleted, invert=True)) for each in segments]
        return cls(segments, kept, [np.full(len(each.passage_ids), checked) for each in segments])

    def part(self, chosen: NDArray[np.bool_]) -> StoredVectors:
        """The rows `chosen` (n,) alone, in the same order."""
        parts = np.split(chosen, self._ends[:-1])
        kept = [rows[here] for rows, here in zip(self._kept, parts, strict=True)]
        return StoredVectors(self._segments, kept, self._trusted)

    def release(self) -> None:
        """Give back the memory of what was read."""
        for segment in self._segments:
            segment.release()

    def __len__(self) -> int:
        """How many live passages have a vector."""
        return len(self.passage_ids)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self._segments[0].width

    @property
    def sums(self) -> NDArray[np.uint32]:
        """(n,) the CRC-32 of each vector, as it was written."""
        kept = zip(self._segments, self._kept, strict=True)
        return np.concatenate([np.empty(0, np.uint32), *(segment.sums[rows] for segment, rows in kept)])

    def rows_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each passage, -1 for one without a live vector."""
        return self._rows_by_id(passage_ids)

    def gather(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of these vectors, (len(rows), width); `IndexCorrupt` when one is not as it was written."""
        if len(self._segments) == 1:
            return self._segments[0].vectors[self._checked(0, self._kept[0][rows])]
        block = np.empty((len(rows), self.width), np.float32)
        source = np.searchsorted(self._ends, rows, side="right")
        for number in np.unique(source).tolist():
            here = np.flatnonzero(source == number)
            first = self._ends[number] - len(self._kept[number])
            its_rows = self._checked(number, self._kept[number][rows[here] - first])
            block[here] = self._segments[number].vectors[its_rows]
        return block

    def blocks(self, chosen: NDArray[np.bool_] | None = None) -> Iterator[NDArray[np.float32]]:
        """All vectors in the order of their rows, or those `chosen` (n,), at most BLOCK at a time.

        Whole runs are views of the mapped file. Memory that was read is given back behind each segment.
        """
        first = 0
        for number, (segment, kept) in enumerate(zip(self._segments, self._kept, strict=True)):
            wanted = kept if chosen is None else kept[chosen[first : first + len(kept)]]
            for at in range(0, len(wanted), BLOCK):
                rows = self._checked(number, wanted[at : at + BLOCK])
                is_run = rows[-1] - rows[0] == len(rows) - 1  # they ascend
                yield segment.vectors[rows[0] : rows[-1] + 1] if is_run else segment.vectors[rows]
            segment.release()
            first += len(kept)

    def _checked(self, number: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """These rows of a segment; those that nothing has vouched for yet are compared with their sums."""
        trusted = self._trusted[number]
        new = rows[~trusted[rows]]
        if len(new):
            self._segments[number].check_rows(new)
            trusted[new] = True
        return rows

    @cached_property
    def _rows_by_id(self) -> RowsById:
        return RowsById(self.passage_ids)
