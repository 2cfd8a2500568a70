"""One segment of token vectors: those of each passage, compressed by the codebook of their model.

Columns of a segment with n passages and T tokens:

    passage_ids  (n,) int64        ascending
    ends         (n,) int64        tokens up to and with each passage; every passage has at least one
    centroids    (T,) uint16       the nearest centroid of each token
    values       (T, bytes) uint8  what is left of it beyond the centroid
    scales       (T,) float16
    sums         (n,) uint32       CRC-32 of a passage's centroids, then its values, then its scales
    covered      (n,) int32        code points of the indexed text that the encoder saw; -1: not known

The small columns are compared with their digests when a segment is opened for search; values and scales of a
passage are compared with its sum when they are read for the first time.
"""

from __future__ import annotations

import zlib
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexCorrupt

from ..manifest import damaged
from ..segment import COLUMNS, Segment
from ..sorted_ids import rows_of
from .codebook import Codebook
from .token_codes import TokenCodes

KIND = "tokens"


class TokenRows(Protocol):
    """The token vectors of some passages, in memory or on the disk."""

    @property
    def passage_ids(self) -> NDArray[np.int64]:
        """(n,) the passages."""

    @property
    def ends(self) -> NDArray[np.int64]:
        """(n,) where the tokens of each end."""

    @property
    def codes(self) -> TokenCodes:
        """The tokens of all of them, one passage after another."""

    @property
    def sums(self) -> NDArray[np.uint32]:
        """(n,) the CRC-32 of each passage's codes."""

    @property
    def covered(self) -> NDArray[np.int32]:
        """(n,) code points that the encoder saw."""

    def check_rows(self, rows: NDArray[np.int64]) -> None:
        """Raise `IndexCorrupt` unless the codes of these passages are as they were written."""

    def release(self) -> None:
        """Give back the memory of what was read."""


class TokenSegment:
    """An open segment, mapped from the disk."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        columns = segment.columns
        self.model = segment.model
        self.passage_ids: NDArray[np.int64] = columns["passage_ids"]
        self.ends: NDArray[np.int64] = columns["ends"]
        self.codes = TokenCodes(columns["centroids"], columns["values"], columns["scales"])

    @classmethod
    def open(cls, segment: Segment, codebook: Codebook) -> TokenSegment:
        """The segment for search, after its small columns have proved to be whole and to fit the codebook."""
        opened = cls(segment)
        segment.check("centroids")
        _ = opened.sums
        opened.check_codes(codebook)
        return opened

    def check_codes(self, codebook: Codebook) -> None:
        """Raise `IndexCorrupt` unless every code can be decoded with this codebook."""
        n_centroids, n_bytes = len(codebook.centroids), codebook.n_bytes
        if self.codes.values.shape[1] != n_bytes:
            raise self._damaged(f"{self.codes.values.shape[1]} bytes a token instead of {n_bytes}")
        if len(self.codes) and (highest := int(self.codes.centroids.max())) >= n_centroids:
            raise self._damaged(f"a token has centroid {highest}, the codebook has {n_centroids}")

    def check_whole(self, codebook: Codebook) -> None:
        """Raise `IndexCorrupt` unless the columns fit one another, their sums and the codebook."""
        self.check_rows(np.arange(len(self.passage_ids)))
        self.check_codes(codebook)

    def check_ends(self) -> None:
        """Raise `IndexCorrupt` unless passages ascend and each has at least one token, together all."""
        n_tokens = int(self.ends[-1]) if len(self.ends) else 0
        bounds = np.concatenate(([0], self.ends))
        if (bounds[1:] <= bounds[:-1]).any() or n_tokens != len(self.codes):
            raise self._damaged("its ends are not places among its tokens")
        if (self.passage_ids[1:] <= self.passage_ids[:-1]).any():
            raise self._damaged("its passages do not ascend")

    def check(self) -> None:
        """Compare values and scales of all passages with their digests."""
        self._segment.check("centroids", "values", "scales")

    @cached_property
    def sums(self) -> NDArray[np.uint32]:
        """The column of that name, compared with its digest when it is read first, as are ids and ends."""
        self._segment.check("passage_ids", "ends", "sums")
        self.check_ends()
        return self._segment.columns["sums"]

    @cached_property
    def covered(self) -> NDArray[np.int32]:
        """The column of that name, compared with its digest when it is read first."""
        self._segment.check("passage_ids", "covered")
        return self._segment.columns["covered"]

    def rows_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each passage, -1 for one that has no tokens here."""
        return rows_of(self.passage_ids, passage_ids)

    def holds(self, passage_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the passages have tokens here."""
        return self.rows_of(passage_ids) >= 0

    def read(self, rows: NDArray[np.int64]) -> TokenCodes:
        """A copy of the codes of these passages, one after another, each compared with its sum."""
        self.check_rows(rows)
        starts, ends = spans_of(self.ends, rows)
        places = token_places(starts, ends - starts)
        return TokenCodes(self.codes.centroids[places], self.codes.values[places], self.codes.scales[places])

    def check_rows(self, rows: NDArray[np.int64]) -> None:
        """Compare the codes of these passages with their sums; `IndexCorrupt` when one is not as written."""
        expected = self.sums[rows]
        starts, ends = spans_of(self.ends, rows)
        if not np.array_equal(sums(self.codes, starts, ends), expected):
            raise self._damaged("the tokens of a passage do not match their sum")

    def release(self) -> None:
        """Give back the memory of what was read."""
        self._segment.release()

    def _damaged(self, how: str) -> IndexCorrupt:
        return damaged(self._segment.path / COLUMNS, how)


def sums(codes: TokenCodes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The CRC-32 of the codes of each passage, which has the tokens `starts[i]` to `ends[i]`."""
    columns = (codes.centroids, codes.values, codes.scales)
    found = np.zeros(len(starts), np.uint32)
    for row, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        total = 0
        for column in columns:
            total = zlib.crc32(column[start:end].data, total)
        found[row] = total
    return found


def spans_of(ends: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the tokens of these passages start (where those of the one before end) and where they end.

    >>> [places.tolist() for places in spans_of(np.array([2, 3, 7]), np.array([2, 0]))]
    [[3, 0], [7, 2]]
    """
    return np.where(rows > 0, ends[rows - 1], 0), ends[rows]


def token_places(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of the tokens of passages, one passage after another.

    >>> token_places(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    places: NDArray[np.int64] = np.repeat(starts - (ends - lengths), lengths) + np.arange(lengths.sum())
    return places
