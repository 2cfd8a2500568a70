"""One segment of postings: which passages hold a term, and how often.

Columns of a segment with n passages, t terms and p pairs of term and passage:

    passage_ids  (n,) int64     ascending; the place in this column is the passage's row
    lengths      (n,) uint32    terms in the passage, repetitions counted
    terms        (…,) uint8     the terms in UTF-8, sorted by bytes, one after the other
    term_ends    (t + 1,) uint64  term i is terms[term_ends[i]:term_ends[i + 1]]
    starts       (t + 1,) uint64  the pairs of term i are rows and counts [starts[i]:starts[i + 1]]
    rows         (p,) uint32    ascending within a term
    counts       (p,) uint16, or uint32 when a count does not fit
    sums         (t,) uint32    CRC-32 over rows, then counts, of each term

The digests of all columns but rows and counts are checked when the segment is opened for search. The pairs of
a term are checked by their checksum each time they are read. So a damaged disk never changes a score
silently.
"""

from __future__ import annotations

import heapq
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from .protocol import Array, Ids, Uints
from .segment import Segment

_BLOCK = 2**16  # pairs that a merge sorts together, in about 60 bytes each
_DICTIONARY = ("passage_ids", "lengths", "terms", "term_ends", "starts", "sums")


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of term and row, in any order.

    vocabulary: terms in UTF-8
    terms: (p,) places in `vocabulary`
    rows: (p,) rows of passages
    counts: (p,) of the term in the passage
    """

    vocabulary: Sequence[bytes]
    terms: Ids
    rows: Ids
    counts: Ids


class PostingsBuilder:
    """Collects passages in memory and makes them into the columns of one segment."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._passage_ids: list[int] = []
        self._lengths: list[int] = []
        self._terms = array("I")
        self._rows = array("I")
        self._counts = array("I")

    def __len__(self) -> int:
        """The number of pairs of term and passage so far."""
        return len(self._terms)

    @property
    def n_passages(self) -> int:
        """The number of passages added, those without terms included."""
        return len(self._passage_ids)

    def add(self, passage_id: int, terms: Sequence[str]) -> None:
        """Add a passage; ids must ascend."""
        row = len(self._passage_ids)
        self._passage_ids.append(passage_id)
        self._lengths.append(len(terms))
        vocabulary = self._vocabulary
        for term, count in Counter(terms).items():
            self._terms.append(vocabulary.setdefault(term, len(vocabulary)))
            self._rows.append(row)
            self._counts.append(count)

    def columns(self) -> dict[str, Array]:
        """The columns of the segment. Equal passages in equal order give equal bytes."""
        terms = sorted((term.encode("utf-8"), number) for term, number in self._vocabulary.items())
        rank = np.empty(len(terms), np.uint32)
        rank[[number for _, number in terms]] = np.arange(len(terms), dtype=np.uint32)
        ranked = rank[np.frombuffer(self._terms, np.uint32)]
        order = np.argsort(ranked, kind="stable")  # rows ascend within a term as they were added
        return columns_of(
            vocabulary=[term for term, _ in terms],
            df=np.bincount(ranked, minlength=len(terms)),
            rows=np.frombuffer(self._rows, np.uint32)[order],
            counts=narrow(np.frombuffer(self._counts, np.uint32)[order]),
            passage_ids=np.array(self._passage_ids, np.int64),
            lengths=np.array(self._lengths, np.uint32),
        )


def columns_of(
    vocabulary: Sequence[bytes],
    df: Ids,
    rows: Uints,
    counts: Array,
    passage_ids: Ids,
    lengths: Uints,
) -> dict[str, Array]:
    """The columns of the file, from sorted terms with `df` pairs each, in order of term and row."""
    starts = _running_total(df)
    return {
        "passage_ids": passage_ids,
        "lengths": lengths,
        "terms": np.frombuffer(b"".join(vocabulary), np.uint8),
        "term_ends": _running_total(np.fromiter(map(len, vocabulary), np.int64, len(vocabulary))),
        "starts": starts,
        "rows": rows,
        "counts": counts,
        "sums": _sums(starts, rows, counts),
    }


def narrow(counts: Array) -> Array:
    """The counts in 16 bits each if all fit, else in 32."""
    return counts.astype(np.uint16 if counts.max(initial=0) < 2**16 else np.uint32, copy=False)


def _running_total(sizes: Ids) -> NDArray[np.uint64]:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.uint64)


def _sums(starts: NDArray[np.uint64], rows: Array, counts: Array) -> Uints:
    ends = pairwise(map(int, starts))
    return np.fromiter(
        (_sum(rows[start:end], counts[start:end]) for start, end in ends), np.uint32, len(starts) - 1
    )


def _sum(rows: Array, counts: Array) -> int:
    return zlib.crc32(counts.data, zlib.crc32(rows.data))


class PostingsSegment:
    """An open segment: its terms can be found and its pairs read."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._columns: Mapping[str, Array] = segment.columns
        self.passage_ids: Ids = segment.columns["passage_ids"]
        self.lengths: Uints = segment.columns["lengths"]

    @classmethod
    def open(cls, segment: Segment) -> PostingsSegment:
        """The segment for search, with its dictionary checked against its digests."""
        segment.check(*_DICTIONARY)
        for offsets, end in (("term_ends", "terms"), ("starts", "rows")):
            column = segment.columns[offsets]
            if column[0] != 0 or column[-1] != len(segment.columns[end]) or (column[1:] < column[:-1]).any():
                raise segment.corruption(f"{offsets} are not places in {end}")
        return cls(segment)

    @classmethod
    def open_whole(cls, segment: Segment) -> PostingsSegment:
        """The segment for reading as a whole, with every column checked against its digest."""
        segment.check("rows", "counts")
        opened = cls.open(segment)
        opened.release()
        return opened

    @cached_property
    def starts(self) -> Ids:
        """The pairs of term i are `starts[i]` to `starts[i + 1]`."""
        return np.asarray(self._columns["starts"].astype(np.int64))

    def terms(self) -> Iterator[bytes]:
        """All terms, in the order of their bytes."""
        terms = self._columns["terms"]
        for start, end in pairwise(map(int, self._columns["term_ends"])):
            yield terms[start:end].tobytes()

    def pairs_between(self, first: int, last: int) -> tuple[Uints, Array]:
        """Rows and counts of a range of terms, one term after another. Only `open_whole` checks them."""
        pairs = slice(self.starts[first], self.starts[last])
        return self._columns["rows"][pairs], self._columns["counts"][pairs]

    def release(self) -> None:
        """Free the memory of pages that were read."""
        self._segment.release()

    def find(self, term: str) -> tuple[Uints, Array]:
        """The rows that hold a term, ascending, and the count in each; empty if none does."""
        number = self._number(term.encode("utf-8"))
        starts = self._columns["starts"]
        pairs = slice(0, 0) if number is None else slice(int(starts[number]), int(starts[number + 1]))
        rows = self._columns["rows"][pairs]
        counts = self._columns["counts"][pairs]
        if number is not None and _sum(rows, counts) != self._columns["sums"][number]:
            raise self._segment.corruption(f"the rows of {term!r} do not match their sum")
        return rows, counts

    def pairs(self) -> Pairs:
        """Every pair of the segment, with rows and counts checked against their digests."""
        self._segment.check("rows", "counts")
        df = np.diff(self.starts)
        return Pairs(
            vocabulary=list(self.terms()),
            terms=np.repeat(np.arange(len(df)), df),
            rows=self._columns["rows"].astype(np.int64),
            counts=self._columns["counts"].astype(np.int64),
        )

    def _term(self, number: int) -> bytes:
        ends = self._columns["term_ends"]
        return bytes(self._columns["terms"][int(ends[number]) : int(ends[number + 1])].data)

    def _number(self, term: bytes) -> int | None:
        """The place of a term in the sorted dictionary, by bisection."""
        n = len(self._columns["sums"])
        number = bisect_left(range(n), term, key=self._term)
        return number if number < n and self._term(number) == term else None


def merge_postings(segments: Sequence[PostingsSegment], deleted: Ids) -> dict[str, Array]:
    """The columns of one segment with the live passages of several, without terms that no passage holds.

    The merge takes the common dictionary in ranges of about `_BLOCK` pairs and sorts one range at a time. So
    it needs memory for the result and one block only.
    """
    ids = np.concatenate([segment.passage_ids for segment in segments])
    lengths = np.concatenate([segment.lengths for segment in segments])
    order = np.argsort(ids)
    order = order[np.isin(ids[order], deleted, invert=True)]
    new_row = np.full(len(ids), -1, np.int64)  # -1 for deleted passages
    new_row[order] = np.arange(len(order))
    vocabulary, numbers = _numbered(segments)
    ends = np.cumsum([len(segment.passage_ids) for segment in segments])[:-1]
    sources = list(map(_Source, segments, numbers, np.split(new_row, ends)))
    df = np.zeros(len(vocabulary), np.int64)
    most = sum(int(source.df.sum()) for source in sources)
    rows = np.empty(most, np.uint32)
    counts = np.empty(most, np.uint32)
    n = 0
    for first, last in _ranges(sources, len(vocabulary)):
        parts = [source.live_pairs(first, last) for source in sources]
        terms, new_rows, new_counts = map(np.concatenate, zip(*parts, strict=True))
        order_of_pairs = np.lexsort((new_rows, terms))
        block = slice(n, n + len(terms))
        rows[block] = new_rows[order_of_pairs]
        counts[block] = new_counts[order_of_pairs]
        n += len(terms)
        df[first:last] = np.bincount(terms - first, minlength=last - first)
    return columns_of(
        vocabulary=list(compress(vocabulary, df > 0)),
        df=df[df > 0],
        rows=rows[:n],
        counts=narrow(counts[:n]),
        passage_ids=ids[order],
        lengths=lengths[order],
    )


def _numbered(segments: Sequence[PostingsSegment]) -> tuple[list[bytes], list[Ids]]:
    """The common dictionary, sorted, and the places of each segment's terms in it."""
    vocabulary: list[bytes] = []
    numbers = [array("q") for _ in segments]
    tagged = [zip(segment.terms(), repeat(place)) for place, segment in enumerate(segments)]
    for term, place in heapq.merge(*tagged):
        if not vocabulary or vocabulary[-1] != term:
            vocabulary.append(term)
        numbers[place].append(len(vocabulary) - 1)
    return vocabulary, [np.frombuffer(places, np.int64) for places in numbers]


class _Source:
    """A segment to merge: `numbers` are the places of its terms in the merged dictionary, ascending."""

    def __init__(self, segment: PostingsSegment, numbers: Ids, new_row: Ids) -> None:
        self.numbers = numbers
        self._segment = segment
        self._new_row = new_row

    @property
    def df(self) -> Ids:
        """The number of pairs of each term, deleted passages included."""
        return np.diff(self._segment.starts)

    def live_pairs(self, first: int, last: int) -> tuple[Ids, Ids, Ids]:
        """The merged term, merged row and count of each live pair whose merged term is in the range."""
        low, high = np.searchsorted(self.numbers, (first, last))
        old, counts = self._segment.pairs_between(int(low), int(high))
        terms = np.repeat(self.numbers[low:high], self.df[low:high])
        rows = self._new_row[old]
        self._segment.release()
        return terms[rows >= 0], rows[rows >= 0], counts[rows >= 0].astype(np.int64)


def _ranges(sources: Sequence[_Source], n_terms: int) -> Iterator[tuple[int, int]]:
    """Ranges of merged terms with about `_BLOCK` pairs each; a term with more pairs is a range by itself."""
    df = np.zeros(n_terms, np.int64)
    for source in sources:
        df[source.numbers] += source.df
    total = np.cumsum(df)
    inner = np.searchsorted(total, np.arange(_BLOCK, df.sum(), _BLOCK)) + 1
    return pairwise(np.unique([0, *inner.tolist(), n_terms]).tolist())
