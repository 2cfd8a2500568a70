"""Dense search in a large collection: compact codes propose candidates, exact scores rank them.

Passages that have no code yet, since they came after the last building, are looked at one by one; deleted
ones are left out when the codes are loaded. Only the proposal is approximate: a score is that of the exact
search, and the share of the exact top 10 that is found was measured when the codes were tuned.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .codes import Codes, Tuning
from .exact_scores import best_of
from .faiss_scan import FaissScan
from .gate import check_vectors
from .proposer import Proposer, coded_rows
from .protocol import Places, Ranking
from .ranking import check_k
from .stored_vectors import StoredVectors
from .tuning import TUNED_FOR
from .vector_index import VectorIndex, chosen_rows

_DEEPER = 4  # candidates for each passage that is asked for beyond
_FEW = 4096  # vectors of a filter that are scored without a search


class ApproximateIndex:
    """Ranks live passages for unit vectors, as `VectorIndex` does, with the recall of its tuning."""

    def __init__(
        self, stored: StoredVectors, proposer: Proposer, tuning: Tuning, uncoded: VectorIndex, places: Places
    ) -> None:
        self._stored = stored
        self._proposer = proposer
        self._uncoded = uncoded
        self._places = places
        self.tuning = tuning

    @classmethod
    def build(cls, stored: StoredVectors, codes: Codes, places: Places) -> ApproximateIndex:
        """Search the stored vectors by codes of the same model."""
        rows = coded_rows(stored, codes)
        lacking = np.ones(len(stored), np.bool_)
        lacking[rows[rows >= 0]] = False
        others = stored.part(lacking)
        uncoded = VectorIndex(others, FaissScan(others), places)
        return cls(stored, Proposer.load(codes, rows), codes.tuning, uncoded, places)

    def __len__(self) -> int:
        """How many live passages have a vector."""
        return len(self._stored)

    @property
    def n_uncoded(self) -> int:
        """How many of them are looked at one by one."""
        return len(self._uncoded)

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
        if chosen is not None and chosen.sum() <= max(_FEW, k):
            found = [np.flatnonzero(chosen)] * len(queries)
        else:
            found = self._candidates(queries, k, among, chosen)
        pairs = zip(found, queries, strict=True)
        return [best_of(self._stored, rows, query, k, self._places) for rows, query in pairs]

    def _candidates(
        self,
        queries: NDArray[np.float32],
        k: int,
        among: NDArray[np.int64] | None,
        chosen: NDArray[np.bool_] | None,
    ) -> list[NDArray[np.int64]]:
        """For each query the rows that its best k are looked for in."""
        n = self.tuning.candidates + _DEEPER * max(0, k - TUNED_FOR)
        coded = self._proposer.rows(queries, self.tuning.n_lists, n, chosen)
        if not len(self._uncoded):
            return coded
        exact = self._uncoded.search(queries, k, among)
        others = [self._stored.rows_of(ranking.passage_ids) for ranking in exact]
        return [np.concatenate(pair) for pair in zip(coded, others, strict=True)]
