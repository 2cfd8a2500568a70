"""The live token vectors of one model: passages of all segments as one, their tokens left on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..sorted_ids import RowsById
from .codebook import Codebook
from .token_codes import TokenCodes
from .tokens import TokenSegment, spans_of, token_places


@dataclass(frozen=True, slots=True)
class TokenPart:
    """The live passages of one segment, rows `first` to `first + len(starts)` of the whole.

    Their tokens are `starts[i]` to `ends[i]` (n,) int64 of `codes`: read-only views of the mapped columns,
    with tokens of deleted passages in between.
    """

    first: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    codes: TokenCodes


class StoredTokens:
    """Row i belongs to `passage_ids[i]`; rows follow the segments, and within one the ids.

    Ids, ends and centroids were compared with their digests when this was made. Values and scales of a row
    are compared with its sum when it is read for the first time, or all at once by `check`; who reads the
    views of a part has to call `check_rows` or `check` first.
    """

    def __init__(
        self, segments: Sequence[TokenSegment], deleted: NDArray[np.int64], codebook: Codebook
    ) -> None:
        """What is not deleted of segments that were opened for search, all of one model."""
        self.codebook = codebook
        self._segments = tuple(segments)
        self._kept = [np.flatnonzero(np.isin(each.passage_ids, deleted, invert=True)) for each in segments]
        self._lasts = np.cumsum([len(rows) for rows in self._kept], dtype=np.int64)
        self.parts = tuple(self._part(number) for number in range(len(self._segments)))
        ids = [each.passage_ids[rows] for each, rows in zip(segments, self._kept, strict=True)]
        self.passage_ids: NDArray[np.int64] = np.concatenate([np.empty(0, np.int64), *ids])
        lengths = [part.ends - part.starts for part in self.parts]
        self.lengths: NDArray[np.int64] = np.concatenate([np.empty(0, np.int64), *lengths])
        self._trusted = np.zeros(len(self), np.bool_)

    def __len__(self) -> int:
        """How many live passages have tokens."""
        return len(self.passage_ids)

    @property
    def n_tokens(self) -> int:
        """How many tokens they have together."""
        return int(self.lengths.sum())

    @property
    def width(self) -> int:
        """Numbers in a token vector."""
        return self.codebook.width

    def rows_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each passage, -1 for one without live tokens."""
        return self._rows_by_id(passage_ids)

    def read(self, rows: NDArray[np.int64]) -> TokenCodes:
        """A copy of the codes of these rows, one passage after another; `IndexCorrupt` when one is not as it
        was written.
        """
        self.check_rows(rows)
        lengths = self.lengths[rows]
        at, n_tokens = np.cumsum(lengths) - lengths, int(lengths.sum())
        n_bytes = self.codebook.n_bytes
        found = TokenCodes(
            centroids=np.empty(n_tokens, np.uint16),
            values=np.empty((n_tokens, n_bytes), np.uint8),
            scales=np.empty(n_tokens, np.float16),
        )
        source = self._source(rows)
        for number in np.unique(source).tolist():
            here, part = source == number, self.parts[number]
            places = token_places(part.starts[rows[here] - part.first], lengths[here])
            to = token_places(at[here], lengths[here])
            found.centroids[to] = part.codes.centroids[places]
            found.values[to] = part.codes.values[places]
            found.scales[to] = part.codes.scales[places]
        return found

    def decoded(self, passage_ids: NDArray[np.int64] | Sequence[int]) -> list[NDArray[np.float32]]:
        """The token vectors of passages, (tokens, width) each; `ValueError` for one that has none."""
        wanted = np.asarray(passage_ids, np.int64)
        rows = self.rows_of(wanted)
        if (rows < 0).any():
            raise ValueError(f"passage {wanted[rows < 0][0]} has no token vectors")
        vectors = self.codebook.decode(self.read(rows))
        return np.split(vectors, np.cumsum(self.lengths[rows])[:-1]) if len(rows) else []

    def check_rows(self, rows: NDArray[np.int64]) -> None:
        """Compare the codes of these rows with their sums, unless that was done; `IndexCorrupt` when one is
        not as it was written.
        """
        new = rows[~self._trusted[rows]]
        if not len(new):
            return
        source = self._source(new)
        for number in np.unique(source).tolist():
            here = new[source == number] - self.parts[number].first
            self._segments[number].check_rows(self._kept[number][here])
        self._trusted[new] = True

    def check(self) -> None:
        """Compare all values and scales with their digests, unless that was done."""
        if not self._trusted.all():
            for segment in self._segments:
                segment.check()
            self._trusted[:] = True

    def release(self) -> None:
        """Give back the memory of what was read."""
        for segment in self._segments:
            segment.release()

    def _part(self, number: int) -> TokenPart:
        segment, rows = self._segments[number], self._kept[number]
        first = int(self._lasts[number]) - len(rows)
        return TokenPart(first, *spans_of(segment.ends, rows), segment.codes)

    def _source(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the part that each row is in."""
        return np.searchsorted(self._lasts, rows, side="right")

    @cached_property
    def _rows_by_id(self) -> RowsById:
        return RowsById(self.passage_ids)
