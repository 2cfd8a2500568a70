"""Candidates of a MaxSim search, found by the centroids of tokens alone.

    sum over question rows r of max over tokens t of <q_r, centroid of t>

The similarities of question rows with centroids are a table of bytes, small enough for a processor's cache,
and a passage is a run of codes into it: two bytes read a token, instead of 68. In a large collection only
passages with a token near a row of the question are scored; inverted lists find them. The lists are made in
memory on first use: rows are cut into blocks of 65,536, within which two bytes name a passage, so they take
two bytes for each centroid of each passage, and 256 KiB a block for the ends of the lists.

Source: Santhanam et al., "PLAID: An Efficient Engine for Late Interaction Retrieval", CIKM 2022, sections 4.1
and 4.2. Theirs drops centroids that are far from the question and keeps float scores; ours looks at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..protocol import Floats, Ids
from ..rows import Part, StoredRows, span_places
from .kernels import LANES, code_sums, quantise

_BLOCK = 65_536  # rows
_PROBED = 8  # centroids of each question row, at first
_SPARE = 2  # passages to be found for each candidate


@dataclass(frozen=True, slots=True)
class CentroidTable:
    """`levels` (C, R) uint8: the similarity of each centroid and question row, in steps of `steps` (R,).

    R is a multiple of 16; the columns beyond the rows of the question have steps of 0.
    """

    levels: NDArray[np.uint8]
    steps: Floats
    n_rows: int


class Interaction:
    """The centroids of one codebook, and the tokens that have them."""

    def __init__(self, stored: StoredRows, centroids: Floats) -> None:
        self._stored = stored
        self._centroids = centroids

    def table(self, question: Floats) -> CentroidTable:
        """The similarities of all centroids with the rows (m, width) of a question."""
        similarities: Floats = self._centroids @ question.T
        levels = np.zeros((len(similarities), -(-len(question) // LANES) * LANES), np.uint8)
        steps = np.zeros(levels.shape[1], np.float32)
        quantise(similarities, levels, steps)
        return CentroidTable(levels, steps, len(question))

    def scores(self, table: CentroidTable, rows: Ids | None = None) -> Floats:
        """(n,) the score of each of these rows, ascending, by centroids, less a constant; None means all."""
        scores = np.empty(len(self._stored) if rows is None else len(rows), np.float32)
        for part, starts, ends, to in spans_among(self._stored, rows):
            code_sums(table.levels, table.steps, part.data["centroids"], starts, ends, scores[to])
        return scores


def spans_among(stored: StoredRows, rows: Ids | None) -> Iterator[tuple[Part, Ids, Ids, slice]]:
    """Each part with the starts and ends of those of its passages that are among `rows`, ascending (None
    means all), and their places in `rows`.
    """
    at = 0
    for part in stored.parts:
        starts, ends = part.starts, part.ends
        if rows is not None:
            first, last = np.searchsorted(rows, (part.first, part.first + len(starts)))
            here = rows[first:last] - part.first
            starts, ends = starts[here], ends[here]
        if len(starts):
            yield part, starts, ends, slice(at, at + len(starts))
        at += len(starts)


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows `first` to `first + n`: those with a token at centroid c are rows[ends[c] : ends[c + 1]]."""

    first: int
    n: int
    ends: Ids
    rows: NDArray[np.uint16]


class InvertedLists:
    """The lists of all rows of the stored tokens."""

    def __init__(self, blocks: Sequence[_Block]) -> None:
        self._blocks = tuple(blocks)
        self._n_rows = sum(block.n for block in blocks)

    @classmethod
    def build(cls, stored: StoredRows, n_centroids: int) -> InvertedLists:
        """The lists of these tokens, by one pass over their centroids."""
        blocks = []
        for part in stored.parts:
            codes = part.data["centroids"]
            for first in range(0, len(part.starts), _BLOCK):
                starts, ends = part.starts[first : first + _BLOCK], part.ends[first : first + _BLOCK]
                tokens, numbers = span_places(starts, ends - starts), np.arange(len(starts), dtype=np.uint32)
                pairs = codes[tokens].astype(np.uint32) << 16 | np.repeat(numbers, ends - starts)
                pairs = np.unique(pairs)  # a centroid, then a row of the block, 16 bits each
                list_ends = np.searchsorted(pairs >> 16, np.arange(n_centroids + 1))
                rows = (pairs & 0xFFFF).astype(np.uint16)
                blocks.append(_Block(part.first + first, len(starts), list_ends, rows))
        return cls(blocks)

    def rows(self, table: CentroidTable, n: int) -> Ids:
        """At least 2n rows (all, if there are fewer), ascending: those near any row of a question.

        Each row of the question probes its nearest centroids, twice as many each time until enough rows of
        the collection were found.
        """
        n_centroids = len(table.levels)
        n_probed = min(_PROBED, n_centroids)
        while True:
            found = self._near(table, n_probed)
            if len(found) >= min(_SPARE * n, self._n_rows) or n_probed == n_centroids:
                return found
            n_probed = min(2 * n_probed, n_centroids)

    def _near(self, table: CentroidTable, n_probed: int) -> Ids:
        """The rows with a token at one of the `n_probed` centroids that are nearest to a question row."""
        kth = len(table.levels) - n_probed
        columns = np.ascontiguousarray(table.levels[:, : table.n_rows].T)
        probed = np.unique(np.argpartition(columns, kth, axis=1)[:, kth:])
        found = [np.empty(0, np.int64)]
        for block in self._blocks:
            is_near = np.zeros(block.n, np.bool_)
            lengths = block.ends[probed + 1] - block.ends[probed]
            is_near[block.rows[span_places(block.ends[probed], lengths)]] = True
            found.append(np.flatnonzero(is_near) + block.first)
        return np.concatenate(found)
