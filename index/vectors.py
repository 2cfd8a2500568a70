"""One segment of dense vectors: the truth that every FAISS index is rebuilt from.

Columns of a segment with n passages:

    passage_ids  (n,) int64       ascending
    vectors      (n, width) float32, rows of length 1
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .segment import Segment

KIND = "vectors"


class VectorsBuilder:
    """Collects the vectors of one model in memory and turns them into the columns of one segment."""

    def __init__(self) -> None:
        self._ids: list[NDArray[np.int64]] = []
        self._vectors: list[NDArray[np.float32]] = []

    @property
    def width(self) -> int | None:
        """Numbers in a vector; None while there is none."""
        return self._vectors[0].shape[1] if self._vectors else None

    @property
    def n_bytes(self) -> int:
        """The size of the vectors held."""
        return sum(vectors.nbytes for vectors in self._vectors)

    def add(self, passage_ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Keep a copy of the vectors of these passages, one row each."""
        self._ids.append(passage_ids.copy())
        self._vectors.append(vectors.copy())

    def holds(self, passage_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have a vector here."""
        return np.isin(passage_ids, np.concatenate([np.empty(0, np.int64), *self._ids]))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the segment, rows ordered by passage id."""
        ids = np.concatenate(self._ids)
        order = np.argsort(ids)
        return {"passage_ids": ids[order], "vectors": np.concatenate(self._vectors)[order]}


class VectorSegment:
    """An open segment: `passage_ids` (n,) and `vectors` (n, width), mapped from the disk."""

    def __init__(self, segment: Segment) -> None:
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

    def holds(self, passage_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have a vector here."""
        if not len(self.passage_ids):
            return np.zeros(len(passage_ids), np.bool_)
        at = np.searchsorted(self.passage_ids, passage_ids).clip(max=len(self.passage_ids) - 1)
        return np.asarray(self.passage_ids[at] == passage_ids)
