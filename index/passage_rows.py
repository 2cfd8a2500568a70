"""Rows of passages made by a model: one vector per passage, or one code per token.

Columns of a segment with n passages and T rows of data (T = n for dense vectors):

    passage_ids  (n,) int64      ascending
    ends         (n,) int64      the end of each passage's rows of data, at least one row each; tokens only
    ...                          the data: `vectors` (n, width) float32, or the codes of tokens
    sums         (n,) uint32     CRC-32 over the data of each passage, column by column

The checksums allow a few passages to be read and verified without reading the others.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np

from spanwise.errors import IndexCorrupt

from .catalog import CatalogWriter
from .protocol import Array, Ids, Mask, Uints
from .segment import TOKENS, VECTORS, Blocks, Columns, Segment, open_segment
from .top_k import rows_of

Data = Mapping[str, Array]
DATA_COLUMNS = {VECTORS: ("vectors",), TOKENS: ("centroids", "values", "scales")}

_BLOCK = 16_384  # rows of data that are copied or read together
_MAX_PENDING_BYTES = 128 * 2**20


def spans_of(ends: Ids, rows: Ids) -> tuple[Ids, Ids]:
    """The start and the end of the rows of data of each of these passages.

    >>> [places.tolist() for places in spans_of(np.array([2, 3, 7]), np.array([2, 0]))]
    [[3, 0], [7, 2]]
    """
    return np.where(rows > 0, ends[rows - 1], 0), ends[rows]


def span_places(starts: Ids, lengths: Ids) -> Ids:
    """The places in spans with these starts and lengths, one span after another.

    >>> span_places(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    places: Ids = np.repeat(starts - (ends - lengths), lengths) + np.arange(lengths.sum())
    return places


def sums_of(data: Data, starts: Ids, ends: Ids) -> Uints:
    """The CRC-32 over the data of each passage, which has the rows `starts[i]` to `ends[i]`."""
    columns = [np.ascontiguousarray(column) for column in data.values()]
    sums = np.zeros(len(starts), np.uint32)
    for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        total = 0
        for column in columns:
            total = zlib.crc32(column[start:end].data, total)
        sums[row] = total
    return sums


class RowsSegment:
    """An open segment of rows. Data are checked against a checksum or a digest before use."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self.passage_ids = segment.passage_ids
        self.data: Data = {name: segment.columns[name] for name in DATA_COLUMNS[segment.kind]}

    @cached_property
    def ends(self) -> Ids:
        """(n,) the end of each passage's data; checked by `sums`."""
        ends = self._segment.columns.get("ends")
        return np.arange(1, len(self.passage_ids) + 1) if ends is None else ends

    @cached_property
    def sums(self) -> Uints:
        """(n,) the checksums. On first use, sums, ids and ends are compared with their digests."""
        columns = self._segment.columns
        names = [name for name in ("passage_ids", "sums", "ends") if name in columns]
        self._segment.check(*names)
        bounds = np.append(0, self.ends)
        if (bounds[1:] <= bounds[:-1]).any() or bounds[-1] != self.n_rows:
            raise self.corruption("its ends are not places among its rows")
        if (self.passage_ids[1:] <= self.passage_ids[:-1]).any():
            raise self.corruption("its passages do not ascend")
        return columns["sums"]

    @property
    def n_rows(self) -> int:
        """The number of rows of data."""
        return len(next(iter(self.data.values())))

    def read(self, rows: Ids) -> Data:
        """A copy of the data of these passages, one passage after another, each checked."""
        self.check_rows(rows)
        starts, ends = spans_of(self.ends, rows)
        places = span_places(starts, ends - starts)
        return {name: column[places] for name, column in self.data.items()}

    def check_rows(self, rows: Ids) -> None:
        """Raise `IndexCorrupt` unless the data of these passages match their checksums."""
        expected = self.sums[rows]
        if not np.array_equal(sums_of(self.data, *spans_of(self.ends, rows)), expected):
            raise self.corruption("the data of a passage do not match their sum")

    def check(self, *names: str) -> None:
        """Compare columns of data (all by default) with their digests."""
        _ = self.sums  # checks the other columns
        self._segment.check(*(names or self.data))

    def release(self) -> None:
        """Free the memory of pages that were read."""
        self._segment.release()

    def corruption(self, reason: str) -> IndexCorrupt:
        """The error for a segment that differs from what was written."""
        return self._segment.corruption(reason)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of passages in memory.

    passage_ids, ends, sums: see the columns of a segment
    data: the columns of data, by name
    """

    passage_ids: Ids
    ends: Ids
    data: Data
    sums: Uints

    @classmethod
    def of(cls, passage_ids: Ids, lengths: Ids, data: Data) -> Batch:
        """A copy of the data of these passages, with `lengths[i]` rows for passage i."""
        ends = np.cumsum(lengths)
        copied = {name: column.copy() for name, column in data.items()}
        return cls(passage_ids.copy(), ends, copied, sums_of(copied, ends - lengths, ends))

    def check_rows(self, rows: Ids) -> None:
        """Does nothing; rows in memory need no check."""

    def check(self) -> None:
        """Does nothing; rows in memory need no check."""

    def release(self) -> None:
        """Does nothing; rows in memory are not mapped from a file."""


def merge_rows(kind: str, parts: Sequence[RowsSegment | Batch], deleted: Ids) -> Columns:
    """The columns of one segment with the live passages of several, each checked.

    Data are copied while they are written, so memory is needed for one block only.
    """
    stored = StoredRows.live(parts, deleted)
    order = np.argsort(stored.passage_ids)
    columns: dict[str, Array | Blocks] = {"passage_ids": stored.passage_ids[order]}
    sums = stored.sums[order]  # also checks the lengths
    if kind == TOKENS:
        columns["ends"] = np.cumsum(stored.lengths[order])
    for name, column in parts[0].data.items():
        shape = (stored.n_rows, *column.shape[1:])
        columns[name] = Blocks(column.dtype.newbyteorder("<").str, shape, stored.blocks(name, order))
    return columns | {"sums": sums}


@dataclass(frozen=True, slots=True)
class Part:
    """The live passages of one segment.

    first: the row of its first passage in `StoredRows`; the others follow
    starts, ends: (n,) int64, the span of each passage's rows in `data`
    data: read-only views of the mapped columns, which include deleted passages
    """

    first: int
    starts: Ids
    ends: Ids
    data: Data


class StoredRows:
    """The live rows of one model over all segments, in the order of segments, then of ids.

    Row i belongs to `passage_ids[i]`, which has `lengths[i]` rows of data. The data of a passage are checked
    when they are first read, or all at once by `check`. Call `check_rows` or `check` before you read the
    views of a part.
    """

    def __init__(
        self, segments: Sequence[RowsSegment | Batch], live: Sequence[Ids], checked: Mask | None = None
    ) -> None:
        """`live` are the rows of each segment that are used; `checked` (n,) are rows that need no check."""
        self._segments = tuple(segments)
        self._live = tuple(live)
        self._lasts = np.cumsum([len(rows) for rows in live], dtype=np.int64)
        parts = []
        ids = [np.empty(0, np.int64)]
        for segment, rows, last in zip(segments, live, self._lasts.tolist(), strict=True):
            parts.append(Part(last - len(rows), *spans_of(segment.ends, rows), segment.data))
            ids.append(segment.passage_ids[rows])
        self.parts = tuple(parts)
        self.passage_ids: Ids = np.concatenate(ids)
        self.lengths: Ids = np.concatenate([ids[0], *(part.ends - part.starts for part in parts)])
        self._checked = np.zeros(len(self), np.bool_) if checked is None else checked

    @classmethod
    def live(cls, segments: Sequence[RowsSegment | Batch], deleted: Ids) -> StoredRows:
        """All rows of at least one segment, except the deleted ones."""
        return cls(segments, [np.flatnonzero(~np.isin(part.passage_ids, deleted)) for part in segments])

    def only(self, chosen: Mask) -> StoredRows:
        """Only the rows `chosen` (n,), in the same order."""
        parts = np.split(chosen, self._lasts[:-1])
        live = [rows[part] for rows, part in zip(self._live, parts, strict=True)]
        return StoredRows(self._segments, live, self._checked[chosen])

    def __len__(self) -> int:
        """The number of live passages with rows."""
        return len(self.passage_ids)

    @property
    def n_rows(self) -> int:
        """The number of live rows of data."""
        return int(self.lengths.sum())

    @property
    def sums(self) -> Uints:
        """(n,) the checksum of each passage as written."""
        pairs = zip(self._segments, self._live, strict=True)
        return np.concatenate([np.empty(0, np.uint32), *(segment.sums[rows] for segment, rows in pairs)])

    def rows_of(self, passage_ids: Ids) -> Ids:
        """The row of each passage, -1 for one without live rows."""
        order, sorted_ids = self._by_id
        return np.append(order, -1)[rows_of(sorted_ids, passage_ids)]

    @cached_property
    def _by_id(self) -> tuple[Ids, Ids]:
        order = np.argsort(self.passage_ids)
        return order, self.passage_ids[order]

    def read(self, rows: Ids) -> Data:
        """A copy of the data of these rows, one passage after another. Raise `IndexCorrupt` for damage."""
        self.check_rows(rows)
        return {name: self._column(name, rows) for name in self.parts[0].data}

    def _column(self, name: str, rows: Ids) -> Array:
        lengths = self.lengths[rows]
        first = self.parts[0]
        if len(self.parts) == 1:
            return first.data[name][span_places(first.starts[rows], lengths)]
        starts = np.cumsum(lengths) - lengths
        column = np.empty((int(lengths.sum()), *first.data[name].shape[1:]), first.data[name].dtype)
        for source, here in self._sources(rows):
            part = self.parts[source]
            places = span_places(part.starts[rows[here] - part.first], lengths[here])
            column[span_places(starts[here], lengths[here])] = part.data[name][places]
        return column

    def _sources(self, rows: Ids) -> Iterator[tuple[int, Mask]]:
        """The place of each segment that holds some of these rows, and which of them it holds."""
        sources = np.searchsorted(self._lasts, rows, side="right")
        for source in np.unique(sources).tolist():
            yield source, sources == source

    def check_rows(self, rows: Ids) -> None:
        """Check the data of these rows on first use. Raise `IndexCorrupt` for damage."""
        new = rows[~self._checked[rows]]
        if not len(new):
            return
        for source, here in self._sources(new):
            places = new[here] - self.parts[source].first
            self._segments[source].check_rows(self._live[source][places])
        self._checked[new] = True

    def check(self) -> None:
        """Compare all data with their digests on first use."""
        if not self._checked.all():
            for segment in self._segments:
                segment.check()
                segment.release()
            self._checked[:] = True

    def blocks(self, name: str, rows: Ids | None = None) -> Iterator[Array]:
        """One column of the data of these rows (all by default), block by block."""
        rows = np.arange(len(self)) if rows is None else rows
        ends = np.cumsum(self.lengths[rows])
        first = 0
        while first < len(rows):
            start = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, start + _BLOCK, side="right")))
            self.check_rows(rows[first:last])
            yield self._column(name, rows[first:last])
            self.release()
            first = last

    def release(self) -> None:
        """Free the memory of pages that were read."""
        for segment in self._segments:
            segment.release()


class PendingRows:
    """The rows of one kind that a writer collects for the next commit, and the segments stored before.

    A new passage with the content of an old one gets a copy of its rows. The old one may be deleted, while a
    segment holds it. So after edits, copies, renames and moves only new text is encoded.
    """

    def __init__(self, kind: str, segments: Path, catalog: CatalogWriter) -> None:
        self.kind = kind
        self.folder = segments
        self.catalog = catalog
        self._pending: dict[str, list[Batch]] = {}
        self._opened: dict[str, list[RowsSegment]] | None = None

    @property
    def is_full(self) -> bool:
        """True when the rows should be written before more are added."""
        batches = chain.from_iterable(self._pending.values())
        held = sum(column.nbytes for batch in batches for column in batch.data.values())
        return held > _MAX_PENDING_BYTES

    def width(self, model: str) -> int | None:
        """The dimension of a model's dense vectors; None without any."""
        parts = self._parts(model)
        return int(parts[0].data["vectors"].shape[1]) if parts else None

    def n_rows(self, model: str) -> int:
        """The number of stored and pending rows of data, those of deleted passages included."""
        return sum(len(next(iter(part.data.values()))) for part in self._parts(model))

    def add(self, model: str, ids: Ids, lengths: Ids, data: Data) -> None:
        """Hold a copy of the data of at least one passage, with `lengths[i]` rows for passage i."""
        self._pending.setdefault(model, []).append(Batch.of(ids, lengths, data))

    def lacking(self, model: str, ids: Ids) -> Mask:
        """(n,) True for passages without rows of this model, stored or pending."""
        held = [ids[:0], *(part.passage_ids for part in self._parts(model))]
        return np.isin(ids, np.concatenate(held), invert=True)

    def reuse(self, new: Ids, old: Ids) -> Mask:
        """Copy the stored rows of passage `old[i]` for passage `new[i]`; (n,) True where `new[i]` got some.

        A passage may occur in `new` several times: rows of the first `old` that has some are copied.
        """
        is_served = np.zeros(len(new), np.bool_)
        for model, segments in self.stored().items() if len(new) else ():
            has_rows = np.zeros(len(new), np.bool_)
            for segment in segments:
                rows = rows_of(segment.passage_ids, old)
                places = np.flatnonzero((rows >= 0) & ~has_rows)
                places = places[np.unique(new[places], return_index=True)[1]]
                if len(places):
                    starts, ends = spans_of(segment.ends, rows[places])
                    self.add(model, new[places], ends - starts, segment.read(rows[places]))
                    has_rows |= np.isin(new, new[places])
            is_served |= has_rows
        return is_served

    def columns(self) -> Iterator[tuple[str, Columns]]:
        """The columns of a segment for each model with pending rows; afterwards none are pending."""
        pending = self._pending
        self._pending = {}
        for model, batches in pending.items():
            yield model, merge_rows(self.kind, batches, np.empty(0, np.int64))

    def refresh(self) -> None:
        """Forget the open segments, which have changed; they are opened again when needed."""
        self._opened = None

    def drop(self, model: str) -> None:
        """Discard the pending rows of a model."""
        self._pending.pop(model, None)
        self.refresh()

    def _parts(self, model: str) -> list[RowsSegment | Batch]:
        return [*self.stored().get(model, []), *self._pending.get(model, [])]

    def stored(self) -> dict[str, list[RowsSegment]]:
        """The segments of each model, oldest first; opened once until they change."""
        if self._opened is None:
            self._opened = {}
            for entry in self.catalog.segments():
                if entry.kind == self.kind:
                    segment = RowsSegment(open_segment(self.folder / entry.id))
                    self._opened.setdefault(entry.model, []).append(segment)
        return self._opened
