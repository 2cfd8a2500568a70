"""Dense search: exact inner product over the live vectors of one model.

A scan by FAISS only proposes candidates, and says how far its scores may be from exact ones. So
many candidates are taken that the best k are surely among them, and the ranking is made of exact scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .exact_scores import best_of
from .faiss_library import MANY
from .faiss_scan import FaissScan, Nearest
from .gate import check_vectors
from .protocol import Places, Ranking
from .ranking import check_among, check_k
from .stored_vectors import StoredVectors
from .vectors import VectorSegment

_SPARE = 16  # candidates beyond k in the first round
_FEW = 1024  # vectors that a few queries are compared with at once, without a scan


class VectorIndex:
    """Ranks live passages for unit vectors; scores are cosines and may be negative."""

    def __init__(self, stored: StoredVectors, scan: FaissScan, places: Places) -> None:
        self._stored = stored
        self._scan = scan
        self._places = places

    @classmethod
    def build(
        cls,
        segments: Sequence[VectorSegment],
        deleted: NDArray[np.int64],
        places: Places,
    ) -> VectorIndex:
        """Search the live vectors of segments that were compared with their digests."""
        stored = StoredVectors.live(segments, deleted, checked=True)
        stored.release()  # the comparison with digests has read all of it
        return cls(stored, FaissScan(stored), places)

    def __len__(self) -> int:
        """How many live passages have a vector."""
        return len(self._stored)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self._stored.width

    def search(
        self, queries: NDArray[np.float32], k: int, among: NDArray[np.int64] | None = None
    ) -> list[Ranking]:
        """For each row of `queries` (n, width), unit float32, its best k passages by inner product.

        `among` are the ids of the passages to which the search is confined; those without a vector are
        passed over.
        """
        check_k(k)
        check_vectors(queries, self.width, [f"question {row}" for row in range(len(queries))])
        chosen = None if among is None else chosen_rows(self._stored, among)
        n_rows = len(self) if chosen is None else int(chosen.sum())
        if not n_rows:
            return [Ranking(np.empty(0, np.int64), np.empty(0, np.float64)) for _ in queries]
        if len(queries) < MANY and n_rows <= _FEW:
            rows = np.arange(len(self)) if chosen is None else np.flatnonzero(chosen)
            return [best_of(self._stored, rows, query, k, self._places) for query in queries]
        found = self._scan.nearest(queries, min(k + _SPARE, n_rows), chosen)
        return [
            best_of(self._stored, self._widened(found, row, query, k, chosen, n_rows), query, k, self._places)
            for row, query in enumerate(queries)
        ]

    def _widened(
        self,
        found: Nearest,
        row: int,
        query: NDArray[np.float32],
        k: int,
        chosen: NDArray[np.bool_] | None,
        n_rows: int,
    ) -> NDArray[np.int64]:
        """Candidates of one query: so many that none that is left out can belong to the best k."""
        rows: NDArray[np.int64]
        scores, rows, slack = found.scores[row], found.rows[row], found.slack
        while len(rows) < n_rows and scores[-1] > scores[k - 1] - slack:
            wider = self._scan.nearest(query[np.newaxis], min(2 * len(rows), n_rows), chosen)
            scores, rows, slack = wider.scores[0], wider.rows[0], wider.slack
        return rows


def chosen_rows(stored: StoredVectors, among: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) which rows belong to these passages."""
    check_among(among)
    rows = stored.rows_of(among)
    chosen = np.zeros(len(stored), np.bool_)
    chosen[rows[rows >= 0]] = True
    return chosen
