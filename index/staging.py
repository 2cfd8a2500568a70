"""What one writer staged of one kind for the next commit, beside the stored segments it is measured by.

A new passage of equal content takes over what a model made of an old one, also of one that was deleted as
long as a segment holds it. So edits, copies, renames and moves leave only what changed to be encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .catalog_writer import CatalogWriter
from .segment import Segment, open_segment
from .segment_writer import Columns
from .vectors import NOT_KNOWN

_MOST_BYTES = 128 * 2**20


class StoredRows(Protocol):
    """An open segment whose rows belong to passages."""

    def rows_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each passage, -1 for one that is not here."""


S = TypeVar("S", bound=StoredRows)
Stored = TypeVar("Stored", bound=StoredRows, contravariant=True)


class Builder(Protocol[Stored]):
    """Collects rows in memory and turns them into the columns of one segment."""

    @property
    def n_bytes(self) -> int:
        """The size of what is held."""

    def holds(self, passage_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have a row here."""

    def take_over(self, passage_ids: NDArray[np.int64], segment: Stored, rows: NDArray[np.int64]) -> None:
        """Keep for these passages a copy of rows of a segment, each compared with its sum."""

    def columns(self) -> Columns:
        """The columns of the segment, rows ordered by passage id."""


B = TypeVar("B", bound=Builder[Any])


class Staging(Generic[B, S]):
    """Part of a `Writer`. Stored segments are opened once and kept until the segments change."""

    kind: ClassVar[str]

    def __init__(self, segments: Path, catalog: CatalogWriter) -> None:
        self._folder = segments
        self._catalog = catalog
        self._staged: dict[str, B] = {}
        self._opened: dict[str, list[S]] | None = None

    @property
    def is_full(self) -> bool:
        """True when what is staged should be written before more is added."""
        return sum(builder.n_bytes for builder in self._staged.values()) > _MOST_BYTES

    @property
    def stores_nothing(self) -> bool:
        """True while no segment of this kind is stored."""
        return not self._stored()

    def reuse(self, new: NDArray[np.int64], old: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Stage for the passages `new` what is stored of the passages `old`; which got something.

        A passage may stand in `new` several times: the first of its twins that has something is enough.
        """
        served = np.zeros(len(new), np.bool_)
        for model in self._stored() if len(new) else ():
            served |= self._copy(model, new, old)
        return served

    def columns(self) -> Iterator[tuple[str, Columns]]:
        """What is staged as a segment for each model; afterwards nothing is."""
        staged, self._staged = self._staged, {}
        for model, builder in staged.items():
            if builder.n_bytes:
                yield model, builder.columns()

    def refresh(self) -> None:
        """The segments have changed: open them anew when they are needed next."""
        self._opened = None

    def _lacking(self, model: str, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have nothing of this model yet, neither stored nor staged."""
        lacking = ~self._builder(model).holds(ids)
        for segment in self._stored().get(model, []):
            lacking &= segment.rows_of(ids) < 0
        return lacking

    def _copy(self, model: str, new: NDArray[np.int64], old: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Stage for each of `new` the row of the first of its `old` that has one; which got one."""
        served = np.zeros(len(new), np.bool_)
        for segment in self._stored()[model]:
            at = segment.rows_of(old)
            found = np.flatnonzero((at >= 0) & ~served)
            found = found[np.unique(new[found], return_index=True)[1]]  # one twin is enough
            if len(found):
                self._builder(model).take_over(new[found], segment, at[found])
                served |= np.isin(new, new[found])
        return served

    def _builder(self, model: str) -> B:
        return self._staged.setdefault(model, self._made())

    def _stored(self) -> dict[str, list[S]]:
        """The segments of each model, oldest first."""
        if self._opened is None:
            self._opened = {}
            for entry in self._catalog.segments():
                if entry.kind == self.kind:
                    segment = self._open(open_segment(self._folder / entry.id))
                    self._opened.setdefault(entry.model, []).append(segment)
        return self._opened

    def _made(self) -> B:
        """An empty builder."""
        raise NotImplementedError

    def _open(self, segment: Segment) -> S:
        """A segment of this kind, open."""
        raise NotImplementedError


def covered_column(covered: Sequence[int] | NDArray[np.integer] | None, n_rows: int) -> NDArray[np.int32]:
    """The column `covered` for these rows; `ValueError` unless there is one count of 0 or more for each."""
    if covered is None:
        return np.full(n_rows, NOT_KNOWN, np.int32)
    column = np.asarray(covered)
    if column.shape != (n_rows,) or (n_rows and not np.issubdtype(column.dtype, np.integer)):
        raise ValueError(f"covered must be {n_rows} integers, one for each vector, not {covered!r}")
    if n_rows and not 0 <= column.min() <= column.max() < 2**31:
        raise ValueError(f"covered must count code points from 0, not {column.min()} to {column.max()}")
    return column.astype(np.int32)
