"""One segment of postings from several, with memory for the result and one block of pairs.

The terms of a segment are sorted, so that its pairs of neighbouring terms stand together: the merge goes
through the common dictionary in ranges of some ten thousand pairs, and sorts one range at a time.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Sequence
from itertools import compress, pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .postings import PostingsSegment, columns_of, narrow

_BLOCK = 2**16  # pairs; each takes about 60 bytes while a block is sorted


def merge_postings(
    segments: Sequence[PostingsSegment], deleted: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """The columns of one segment that holds the live passages of several, and no term that none holds."""
    ids = np.concatenate([segment.passage_ids for segment in segments])
    lengths = np.concatenate([segment.lengths for segment in segments])
    order = np.argsort(ids)
    order = order[np.isin(ids[order], deleted, invert=True)]
    new_row = np.full(len(ids), -1, np.int64)  # -1 for the dead
    new_row[order] = np.arange(len(order))
    vocabulary, numbers = _numbered(segments)
    ends = np.cumsum([len(segment.passage_ids) for segment in segments])[:-1]
    parts = zip(segments, numbers, np.split(new_row, ends), strict=True)
    sources = [_Source(*part) for part in parts]
    df = np.zeros(len(vocabulary), np.int64)
    most = sum(int(source.df.sum()) for source in sources)
    rows, done = np.empty(most, np.uint32), 0
    counts = np.empty(most, max(segment.counts_dtype for segment in segments))
    for first, last in _ranges(sources, len(vocabulary)):
        found = zip(*(source.live_pairs(first, last) for source in sources), strict=True)
        terms, new, times = (np.concatenate(column) for column in found)
        block = np.lexsort((new, terms))
        rows[done : done + len(block)] = new[block]
        counts[done : done + len(block)] = times[block]
        done += len(block)
        df[first:last] = np.bincount(terms - first, minlength=last - first)
    return columns_of(
        vocabulary=list(compress(vocabulary, df > 0)),
        df=df[df > 0],
        rows=rows[:done],
        counts=narrow(counts[:done]),
        passage_ids=ids[order],
        lengths=lengths[order],
    )


def _numbered(segments: Sequence[PostingsSegment]) -> tuple[list[bytes], list[NDArray[np.int64]]]:
    """The common dictionary, sorted, and for each segment the places of its terms there."""
    vocabulary: list[bytes] = []
    numbers = [array("q") for _ in segments]
    tagged = [zip(segment.terms(), repeat(place)) for place, segment in enumerate(segments)]
    for term, place in heapq.merge(*tagged):
        if not vocabulary or vocabulary[-1] != term:
            vocabulary.append(term)
        numbers[place].append(len(vocabulary) - 1)
    return vocabulary, [np.frombuffer(places, np.int64) for places in numbers]


class _Source:
    """A segment in terms of the merged one: `numbers` of its terms there, ascending, and its rows there."""

    def __init__(
        self, segment: PostingsSegment, numbers: NDArray[np.int64], new_row: NDArray[np.int64]
    ) -> None:
        self.numbers = numbers
        self._segment = segment
        self._new_row = new_row

    @property
    def df(self) -> NDArray[np.int64]:
        """How many pairs each of its terms has, the dead included."""
        return np.diff(self._segment.starts)

    def live_pairs(
        self, first: int, last: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Merged term, merged row and count of each live pair whose term is in the range."""
        low, high = np.searchsorted(self.numbers, (first, last))
        old, counts = self._segment.pairs_between(int(low), int(high))
        terms = np.repeat(self.numbers[low:high], self.df[low:high])
        rows = self._new_row[old]
        self._segment.release()
        return terms[rows >= 0], rows[rows >= 0], counts[rows >= 0].astype(np.int64)


def _ranges(sources: Sequence[_Source], n_terms: int) -> Iterator[tuple[int, int]]:
    """Ranges of merged terms with about a block of pairs each; a term with more has a range of its own."""
    df = np.zeros(n_terms, np.int64)
    for source in sources:
        df[source.numbers] += source.df
    total = np.cumsum(df)
    inner = np.searchsorted(total, np.arange(_BLOCK, df.sum(), _BLOCK)) + 1
    return pairwise(np.unique([0, *inner.tolist(), n_terms]).tolist())
