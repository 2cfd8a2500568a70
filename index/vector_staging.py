"""The vectors of one writer: those staged for the next commit, beside the stored ones they are measured by.

A new passage of equal content takes over the vectors of an old one, also of one that was deleted as long as a
segment holds it. So edits, copies, renames and moves leave only what changed to be encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalog_writer import CatalogWriter
from .gate import check_vectors
from .segment import open_segment
from .vectors import KIND, NOT_KNOWN, VectorsBuilder, VectorSegment

_MOST_BYTES = 128 * 2**20


class VectorStaging:
    """Part of a `Writer`. Stored segments are opened once and kept until the segments change."""

    def __init__(self, segments: Path, catalog: CatalogWriter) -> None:
        self._folder = segments
        self._catalog = catalog
        self._staged: dict[str, VectorsBuilder] = {}
        self._opened: dict[str, list[VectorSegment]] | None = None

    @property
    def is_full(self) -> bool:
        """True when the staged vectors should be written before more are added."""
        return sum(builder.n_bytes for builder in self._staged.values()) > _MOST_BYTES

    def put(
        self,
        model: str,
        ids: NDArray[np.int64],
        rows: NDArray[np.float32],
        covered: NDArray[np.int32],
    ) -> int:
        """Stage the vectors of the passages that have none; how many those were."""
        lacking = ~self._builder(model).holds(ids)
        for segment in self._stored().get(model, []):
            lacking &= ~segment.holds(ids)
        if lacking.any():
            self._builder(model).add(ids[lacking], rows[lacking], covered[lacking])
        return int(lacking.sum())

    def check(self, model: str, rows: NDArray[np.float32], passage_ids: Sequence[int]) -> None:
        """Raise `VectorRejected` unless the rows are unit vectors as wide as those of the model."""
        stored = self._stored().get(model)
        width = stored[0].width if stored else self._builder(model).width
        check_vectors(rows, width, [f"passage {number}" for number in passage_ids])

    def twins(self, contents: Sequence[str]) -> dict[str, list[int]]:
        """Older passages of equal content, by digest; none is looked for while no vectors are stored."""
        return self._catalog.twins(contents) if self._stored() else {}

    def reuse(self, ids: Sequence[int], twins: Sequence[Sequence[int]]) -> int:
        """Stage for new passages the vectors of their twins; how many passages got at least one."""
        new = np.repeat(np.array(ids, np.int64), [len(olds) for olds in twins])
        old = np.array([number for olds in twins for number in olds], np.int64)
        served = np.zeros(len(new), np.bool_)
        for model in self._stored() if len(new) else ():
            served |= self._copy(model, new, old)
        return len(np.unique(new[served]))

    def columns(self) -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
        """The staged vectors as a segment for each model; afterwards none are staged."""
        staged, self._staged = self._staged, {}
        for model, builder in staged.items():
            if builder.n_bytes:
                yield model, builder.columns()

    def refresh(self) -> None:
        """The segments have changed: open them anew when they are needed next."""
        self._opened = None

    def _copy(self, model: str, new: NDArray[np.int64], old: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Stage for each of `new` the vector of the first of its `old` that has one; which got one."""
        served = np.zeros(len(new), np.bool_)
        for segment in self._stored()[model]:
            at = segment.rows_of(old)
            found = np.flatnonzero((at >= 0) & ~served)
            found = found[np.unique(new[found], return_index=True)[1]]  # one twin is enough
            if len(found):
                rows = at[found]
                self._builder(model).add(new[found], segment.read(rows), segment.covered[rows])
                served |= np.isin(new, new[found])
        return served

    def _builder(self, model: str) -> VectorsBuilder:
        return self._staged.setdefault(model, VectorsBuilder())

    def _stored(self) -> dict[str, list[VectorSegment]]:
        """The segments of each model, oldest first."""
        if self._opened is None:
            self._opened = {}
            for entry in self._catalog.segments():
                if entry.kind == KIND:
                    segment = VectorSegment(open_segment(self._folder / entry.id))
                    self._opened.setdefault(entry.model, []).append(segment)
        return self._opened


def covered_column(covered: Sequence[int] | NDArray[np.integer] | None, n_rows: int) -> NDArray[np.int32]:
    """The column `covered` for these rows; `ValueError` unless there is one count of 0 or more for each."""
    if covered is None:
        return np.full(n_rows, NOT_KNOWN, np.int32)
    column = np.asarray(covered)
    if column.shape != (n_rows,) or not np.issubdtype(column.dtype, np.integer):
        raise ValueError(f"covered must be {n_rows} integers, one for each vector, not {covered!r}")
    if n_rows and not 0 <= column.min() <= column.max() < 2**31:
        raise ValueError(f"covered must count code points from 0, not {column.min()} to {column.max()}")
    return column.astype(np.int32)
