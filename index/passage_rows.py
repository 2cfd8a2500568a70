"""Rows of passages made by a model: one vector each, or one code for each of their tokens.

Columns of a segment with n passages and T rows of data (T = n for dense vectors):

    passage_ids  (n,) int64      ascending
    ends         (n,) int64      rows of data up to and with each passage, at least one each; tokens only
    ...                          the data: `vectors` (n, width) float32, or the codes of tokens
    sums         (n,) uint32     CRC-32 over the data of each passage, column by column

With the sums, a few passages can be read and trusted without reading the others.
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
DATA = {VECTORS: ("vectors",), TOKENS: ("centroids", "values", "scales")}

_BLOCK = 16_384  # rows of data that are copied or read together
_MAX_PENDING_BYTES = 128 * 2**20


def spans_of(ends: Ids, rows: Ids) -> tuple[Ids, Ids]:
    """The first row of data of these passages, and the end of each.

    >>> [places.tolist() for places in spans_of(np.array([2, 3, 7]), np.array([2, 0]))]
    [[3, 0], [7, 2]]
    """
    return np.where(rows > 0, ends[rows - 1], 0), ends[rows]


def span_places(starts: Ids, lengths: Ids) -> Ids:
    """The rows of data of passages, one passage after another.

    >>> span_places(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    places: Ids = np.repeat(starts - (ends - lengths), lengths) + np.arange(lengths.sum())
    return places


def sums_of(data: Data, starts: Ids, ends: Ids) -> Uints:
    """The CRC-32 over the data of each passage, which has the rows `starts[i]` to `ends[i]`."""
    columns = [np.ascontiguousarray(column) for column in data.values()]
    found = np.zeros(len(starts), np.uint32)
    for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        total = 0
        for column in columns:
            total = zlib.crc32(column[start:end].data, total)
        found[row] = total
    return found


class RowsSegment:
    """An open segment of rows. Nothing is trusted before it was compared with a sum or a digest."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self.kind, self.model = segment.kind, segment.model
        self.passage_ids = segment.passage_ids
        self.data: Data = {name: segment.columns[name] for name in DATA[segment.kind]}

    @cached_property
    def ends(self) -> Ids:
        """(n,) where the data of each passage ends; not checked before `sums`."""
        ends = self._segment.columns.get("ends")
        return np.arange(1, len(self.passage_ids) + 1) if ends is None else ends

    @cached_property
    def sums(self) -> Uints:
        """(n,) the sums, compared with their digest on first use, like ids and ends."""
        self._segment.check("passage_ids", "sums", *(["ends"] if "ends" in self._segment.columns else []))
        bounds = np.concatenate(([0], self.ends))
        if (bounds[1:] <= bounds[:-1]).any() or bounds[-1] != self.n_rows:
            raise self.corruption("its ends are not places among its rows")
        if (self.passage_ids[1:] <= self.passage_ids[:-1]).any():
            raise self.corruption("its passages do not ascend")
        return self._segment.columns["sums"]

    @property
    def n_rows(self) -> int:
        """The number of rows of data."""
        return len(self.data[DATA[self.kind][0]])

    def rows_of(self, passage_ids: Ids) -> Ids:
        """The place of each passage, -1 for a missing one."""
        return rows_of(self.passage_ids, passage_ids)

    def read(self, rows: Ids) -> Data:
        """A copy of the data of these passages, one after another, each compared with its sum."""
        self.check_rows(rows)
        starts, ends = spans_of(self.ends, rows)
        places = span_places(starts, ends - starts)
        return {name: column[places] for name, column in self.data.items()}

    def check_rows(self, rows: Ids) -> None:
        """Raise `IndexCorrupt` unless the data of these passages match their sums."""
        expected = self.sums[rows]
        if not np.array_equal(sums_of(self.data, *spans_of(self.ends, rows)), expected):
            raise self.corruption("the data of a passage do not match their sum")

    def check(self, *names: str) -> None:
        """Compare columns of data (all by default) with their digests."""
        _ = self.sums
        self._segment.check(*(names or self.data))

    def release(self) -> None:
        """Give back the memory of what was read."""
        self._segment.release()

    def corruption(self, how: str) -> IndexCorrupt:
        """The error for a segment that differs from what was written."""
        return self._segment.corruption(how)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of passages in memory, which are trusted; see the columns of a segment."""

    passage_ids: Ids
    ends: Ids
    data: Data
    sums: Uints

    @classmethod
    def of(cls, passage_ids: Ids, lengths: Ids, data: Data) -> Batch:
        """A copy of the data of these passages, `lengths` rows each."""
        ends, copied = np.cumsum(lengths), {name: column.copy() for name, column in data.items()}
        return cls(passage_ids.copy(), ends, copied, sums_of(copied, ends - lengths, ends))

    def check_rows(self, rows: Ids) -> None:
        """Nothing: rows in memory are trusted."""

    def check(self) -> None:
        """Nothing."""

    def release(self) -> None:
        """Nothing: they are not on the disk."""


def merge_rows(kind: str, parts: Sequence[RowsSegment | Batch], deleted: Ids) -> Columns:
    """The columns of one segment with the live passages of several, each compared with its sum.

    Data are copied while they are written: memory is that of one block.
    """
    stored = StoredRows.live(parts, deleted)
    order = np.argsort(stored.passage_ids)
    columns: dict[str, Array | Blocks] = {"passage_ids": stored.passage_ids[order]}
    sums = stored.sums[order]  # checks the lengths
    if kind == TOKENS:
        columns["ends"] = np.cumsum(stored.lengths[order])
    for name, column in parts[0].data.items():
        shape = (stored.n_rows, *column.shape[1:])
        columns[name] = Blocks(column.dtype.newbyteorder("<").str, shape, stored.blocks(name, order))
    return columns | {"sums": sums}


@dataclass(frozen=True, slots=True)
class Part:
    """The live passages of one segment, rows `first` to `first + len(starts)` of the whole.

    Their data are `starts[i]` to `ends[i]` (n,) int64 of `data`: read-only views of the mapped columns, with
    the data of deleted passages in between.
    """

    first: int
    starts: Ids
    ends: Ids
    data: Data


class StoredRows:
    """The live rows of one model over all segments. Row i belongs to `passage_ids[i]`, which has `lengths[i]`
    rows of data; rows follow the segments, and within one the ids.

    The data of a passage are compared with its sum when they are first read, or all at once by `check`. Call
    `check_rows` or `check` before you read the views of a part.
    """

    def __init__(
        self, segments: Sequence[RowsSegment | Batch], kept: Sequence[Ids], trusted: Mask | None = None
    ) -> None:
        """Of each segment the passages `kept`; `trusted` (n,) are rows that need no comparison."""
        self._segments = tuple(segments)
        self._kept = tuple(kept)
        self._lasts = np.cumsum([len(rows) for rows in kept], dtype=np.int64)
        pairs, empty = list(zip(segments, kept, strict=True)), np.empty(0, np.int64)
        self.parts = tuple(
            Part(int(last) - len(rows), *spans_of(segment.ends, rows), segment.data)
            for (segment, rows), last in zip(pairs, self._lasts, strict=True)
        )
        self.passage_ids: Ids = np.concatenate([empty, *(each.passage_ids[rows] for each, rows in pairs)])
        self.lengths: Ids = np.concatenate([empty, *(part.ends - part.starts for part in self.parts)])
        self._trusted = np.zeros(len(self), np.bool_) if trusted is None else trusted

    @classmethod
    def live(cls, segments: Sequence[RowsSegment | Batch], deleted: Ids) -> StoredRows:
        """All rows of at least one segment but the deleted ones."""
        return cls(segments, [np.flatnonzero(~np.isin(each.passage_ids, deleted)) for each in segments])

    def only(self, chosen: Mask) -> StoredRows:
        """The rows `chosen` (n,) alone, in the same order."""
        parts = np.split(chosen, self._lasts[:-1])
        kept = [rows[here] for rows, here in zip(self._kept, parts, strict=True)]
        return StoredRows(self._segments, kept, self._trusted[chosen])

    def __len__(self) -> int:
        """The number of live passages with rows."""
        return len(self.passage_ids)

    @property
    def n_rows(self) -> int:
        """The number of live rows of data."""
        return int(self.lengths.sum())

    @property
    def sums(self) -> Uints:
        """(n,) the sum of each passage, as it was written."""
        pairs = zip(self._segments, self._kept, strict=True)
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
        """A copy of the data of these rows, one passage after another; `IndexCorrupt` for a damaged one."""
        self.check_rows(rows)
        return {name: self._column(name, rows) for name in self.parts[0].data}

    def _column(self, name: str, rows: Ids) -> Array:
        lengths, columns = self.lengths[rows], [part.data[name] for part in self.parts]
        if len(columns) == 1:
            return columns[0][span_places(self.parts[0].starts[rows], lengths)]
        at, source = np.cumsum(lengths) - lengths, np.searchsorted(self._lasts, rows, side="right")
        found = np.empty((int(lengths.sum()), *columns[0].shape[1:]), columns[0].dtype)
        for number in np.unique(source).tolist():
            part, here = self.parts[number], source == number
            places = span_places(part.starts[rows[here] - part.first], lengths[here])
            found[span_places(at[here], lengths[here])] = columns[number][places]
        return found

    def check_rows(self, rows: Ids) -> None:
        """Compare the data of these rows with their sums on first use; `IndexCorrupt` for a damaged one."""
        new = rows[~self._trusted[rows]]
        if not len(new):
            return
        source = np.searchsorted(self._lasts, new, side="right")
        for number in np.unique(source).tolist():
            here = new[source == number] - self.parts[number].first
            self._segments[number].check_rows(self._kept[number][here])
        self._trusted[new] = True

    def check(self) -> None:
        """Compare all data with their digests on first use."""
        if not self._trusted.all():
            for segment in self._segments:
                segment.check()
                segment.release()
            self._trusted[:] = True

    def blocks(self, name: str, rows: Ids | None = None) -> Iterator[Array]:
        """One column of the data of these rows (all by default), block by block."""
        rows = np.arange(len(self)) if rows is None else rows
        ends, first = np.cumsum(self.lengths[rows]), 0
        while first < len(rows):
            done = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, done + _BLOCK, side="right")))
            self.check_rows(rows[first:last])
            yield self._column(name, rows[first:last])
            self.release()
            first = last

    def release(self) -> None:
        """Give back the memory of what was read."""
        for segment in self._segments:
            segment.release()


class PendingRows:
    """The rows of one kind that a writer collects for the next commit, and the segments stored before.

    A new passage with the content of an old one gets a copy of its rows, also of a deleted one while a
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
        """Numbers in a dense vector of a model; None while there is none."""
        parts = self._parts(model)
        return int(parts[0].data["vectors"].shape[1]) if parts else None

    def n_rows(self, model: str) -> int:
        """The number of stored and pending rows of data, those of deleted passages included."""
        return sum(len(next(iter(part.data.values()))) for part in self._parts(model))

    def add(self, model: str, ids: Ids, lengths: Ids, data: Data) -> None:
        """Keep a copy of the data of these passages, `lengths` rows each, at least one passage."""
        self._pending.setdefault(model, []).append(Batch.of(ids, lengths, data))

    def lacking(self, model: str, ids: Ids) -> Mask:
        """(n,) whether each passage has no rows of this model, neither stored nor pending."""
        held = [np.empty(0, np.int64), *(part.passage_ids for part in self._parts(model))]
        return np.isin(ids, np.concatenate(held), invert=True)

    def reuse(self, new: Ids, old: Ids) -> Mask:
        """Copy for the passages `new` the stored rows of the passages `old`; (n,) whether each got some.

        A passage may occur in `new` several times: the first of its `old` that has rows is enough.
        """
        served = np.zeros(len(new), np.bool_)
        for model, segments in self.stored().items() if len(new) else ():
            done = np.zeros(len(new), np.bool_)
            for segment in segments:
                at = segment.rows_of(old)
                found = np.flatnonzero((at >= 0) & ~done)
                found = found[np.unique(new[found], return_index=True)[1]]
                if len(found):
                    starts, ends = spans_of(segment.ends, at[found])
                    self.add(model, new[found], ends - starts, segment.read(at[found]))
                    done |= np.isin(new, new[found])
            served |= done
        return served

    def columns(self) -> Iterator[tuple[str, Columns]]:
        """The columns of a segment for each model with pending rows; afterwards none are pending."""
        pending, self._pending = self._pending, {}
        for model, batches in pending.items():
            yield model, merge_rows(self.kind, batches, np.empty(0, np.int64))

    def refresh(self) -> None:
        """The segments have changed: open them again when they are next needed."""
        self._opened = None

    def drop(self, model: str) -> None:
        """Drop the pending rows of a model."""
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
