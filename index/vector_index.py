"""Dense search: exact inner product over the live vectors of one model, through FAISS.

The FAISS index is a cache in memory, built from the segments when the index is opened. FAISS adds up in
float32, in an order that depends on the batch; so it only proposes candidates, and the ranking is made from
scores in float64 that depend on nothing but the two vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .gate import check_vectors
from .protocol import Places, Ranking
from .ranking import best, check_k, rows_among
from .vectors import VectorSegment

_SPARE = 16  # candidates beyond k in the first round


class VectorIndex:
    """Ranks live passages for unit vectors; scores are cosines and may be negative."""

    def __init__(self, faiss_index: Any, passage_ids: NDArray[np.int64], places: Places) -> None:
        self._faiss = faiss_index
        self._passage_ids = passage_ids
        self._places = places

    @classmethod
    def build(
        cls, segments: Sequence[VectorSegment], deleted: NDArray[np.int64], places: Places
    ) -> VectorIndex:
        """Load the live vectors of at least one segment, all of one model and width, into FAISS."""
        import faiss

        index = faiss.IndexFlatIP(segments[0].width)
        ids = [np.empty(0, np.int64)]
        for segment in segments:
            live = np.isin(segment.passage_ids, deleted, invert=True)
            index.add(segment.vectors if live.all() else segment.vectors[live])
            ids.append(segment.passage_ids[live])
            segment.release()  # FAISS has its own copy
        return cls(index, np.concatenate(ids), places)

    def __len__(self) -> int:
        """How many live passages have a vector."""
        return len(self._passage_ids)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self._faiss.d)

    def search(
        self, queries: NDArray[np.float32], k: int, among: NDArray[np.int64] | None = None
    ) -> list[Ranking]:
        """For each row of `queries` (n, width), unit float32, its best k passages by inner product.

        Only vectors of passages `among` are looked at: the fewer they are, the faster.
        """
        check_k(k)
        check_vectors(queries, self.width, [f"question {row}" for row in range(len(queries))])
        allowed = rows_among(self._passage_ids, among)
        rows = None if allowed is None else np.flatnonzero(allowed)
        n = self._n_among(rows)
        if n == 0:
            return [Ranking(np.empty(0, np.int64), np.empty(0, np.float64)) for _ in queries]
        found = self._candidates(np.ascontiguousarray(queries), min(k + _SPARE, n), rows)
        return [self._rank(*one, k, rows) for one in zip(queries, *found, strict=True)]

    def _n_among(self, allowed: NDArray[np.int64] | None) -> int:
        return len(self) if allowed is None else len(allowed)

    def _candidates(
        self, queries: NDArray[np.float32], wanted: int, allowed: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Scores and rows of the best `wanted` for each query by FAISS, both (n, wanted)."""
        import faiss

        if allowed is None:
            scores, rows = self._faiss.search(queries, wanted)
            return scores, rows
        # Of FAISS's selectors the array is the one that leads to the rows instead of testing every row.
        selector, only = faiss.IDSelectorArray(allowed), faiss.SearchParameters()
        only.sel = selector
        scores, rows = self._faiss.search(queries, wanted, params=only)
        return scores, rows

    def _rank(
        self,
        query: NDArray[np.float32],
        scores: NDArray[np.float32],
        rows: NDArray[np.int64],
        k: int,
        allowed: NDArray[np.int64] | None,
    ) -> Ranking:
        """Widen the candidates until the last one cannot belong to the best k, then score them exactly."""
        n = self._n_among(allowed)
        # Each of the two sums of `width` products of unit vectors is off by at most width * eps / 2.
        slack = 2 * self.width * float(np.finfo(np.float32).eps)
        while len(rows) < n and scores[-1] > scores[k - 1] - slack:
            [scores], [rows] = self._candidates(query[np.newaxis], min(2 * len(rows), n), allowed)
        stored = self._faiss.reconstruct_batch(rows).astype(np.float64)  # (candidates, width)
        # A product and a sum along the row: the same bits for a pair of vectors whatever the batch.
        exact = (stored * query.astype(np.float64)).sum(axis=1)
        return best(self._passage_ids[rows], exact, k, self._places)
