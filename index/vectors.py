"""One segment of dense vectors: the truth that every FAISS index is rebuilt from.

Columns of a segment with n passages:

    passage_ids  (n,) int64       ascending
    vectors      (n, width) float32, rows of length 1
    covered      (n,) int32       code points of the indexed text that the encoder's window saw; -1: not known
    sums         (n,) uint32      CRC-32 of each vector

Segments of format 1 have the first two columns. With the sums a few vectors can be read and trusted without
reading the others.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .manifest import damaged
from .segment import COLUMNS, Segment
from .sorted_ids import rows_of

KIND = "vectors"
NOT_KNOWN = -1


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of each passage a model's window saw.

    `passage_ids` (n,) int64, ascending, are the live passages that have a vector of the model; `covered` (n,)
    int32 counts the code points of the indexed text (`indexed_text`) from its start; -1 when it is not known.
    """

    passage_ids: NDArray[np.int64]
    covered: NDArray[np.int32]


class VectorsBuilder:
    """Collects the vectors of one model in memory and turns them into the columns of one segment."""

    def __init__(self) -> None:
        self._ids: list[NDArray[np.int64]] = []
        self._vectors: list[NDArray[np.float32]] = []
        self._covered: list[NDArray[np.int32]] = []

    @property
    def width(self) -> int | None:
        """Numbers in a vector; None while there is none."""
        return self._vectors[0].shape[1] if self._vectors else None

    @property
    def n_bytes(self) -> int:
        """The size of the vectors held."""
        return sum(vectors.nbytes for vectors in self._vectors)

    def add(
        self, passage_ids: NDArray[np.int64], vectors: NDArray[np.float32], covered: NDArray[np.int32]
    ) -> None:
        """Keep a copy of the vectors of these passages, one row each."""
        self._ids.append(passage_ids.copy())
        self._vectors.append(vectors.copy())
        self._covered.append(covered.copy())

    def take_over(
        self, passage_ids: NDArray[np.int64], segment: VectorSegment, rows: NDArray[np.int64]
    ) -> None:
        """Keep for these passages a copy of vectors of a segment, each compared with its sum."""
        self.add(passage_ids, segment.read(rows), segment.covered[rows])

    def holds(self, passage_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have a vector here."""
        return np.isin(passage_ids, np.concatenate([np.empty(0, np.int64), *self._ids]))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the segment, rows ordered by passage id."""
        ids = np.concatenate(self._ids)
        order = np.argsort(ids)
        vectors = np.concatenate(self._vectors)[order]
        covered = np.concatenate(self._covered)[order]
        return {"passage_ids": ids[order], "vectors": vectors, "covered": covered, "sums": sums(vectors)}


class VectorSegment:
    """An open segment: `passage_ids` (n,) and `vectors` (n, width), mapped from the disk."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self.passage_ids: NDArray[np.int64] = segment.columns["passage_ids"]
        self.vectors: NDArray[np.float32] = segment.columns["vectors"]
        self.model = segment.model

    @classmethod
    def open(cls, segment: Segment) -> VectorSegment:
        """The segment for search, after every byte has been compared with its digest."""
        segment.check("passage_ids", "vectors")
        return cls(segment)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def covered(self) -> NDArray[np.int32]:
        """The column of that name, compared with its digest when it is read first."""
        if "covered" not in self._segment.columns:
            return np.full(len(self.passage_ids), NOT_KNOWN, np.int32)
        self._segment.check("passage_ids", "covered")
        return self._segment.columns["covered"]

    def rows_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each passage, -1 for one that has no vector here."""
        return rows_of(self.passage_ids, passage_ids)

    def holds(self, passage_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have a vector here."""
        return self.rows_of(passage_ids) >= 0

    def read(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of these vectors, each compared with its sum; `IndexCorrupt` when one is not as written."""
        self.check_rows(rows)
        return self.vectors[rows]

    def check_rows(self, rows: NDArray[np.int64]) -> None:
        """Compare these vectors with their sums; `IndexCorrupt` when one is not as it was written."""
        if not np.array_equal(sums(self.vectors[rows]), self.sums[rows]):
            raise damaged(self._segment.path / COLUMNS, "a vector does not match its sum")

    def release(self) -> None:
        """Give back the memory of what was read."""
        self._segment.release()

    @cached_property
    def sums(self) -> NDArray[np.uint32]:
        """The column of that name, compared with its digest when it is read first."""
        if "sums" not in self._segment.columns:  # format 1: the digest over all vectors vouches for each
            self._segment.check("passage_ids", "vectors")
            return sums(self.vectors)
        self._segment.check("passage_ids", "sums")
        return self._segment.columns["sums"]


def sums(vectors: NDArray[np.float32]) -> NDArray[np.uint32]:
    """The CRC-32 of each row."""
    rows = np.ascontiguousarray(vectors, "<f4")
    return np.array([zlib.crc32(row.data) for row in rows], np.uint32)
