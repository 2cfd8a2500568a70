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
from .ranking import best, check_k
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

    def search(self, queries: NDArray[np.float32], k: int) -> list[Ranking]:
        """For each row of `queries` (n, width), unit float32, its best k passages by inner product."""
        check_k(k)
        check_vectors(queries, self.width, [f"question {row}" for row in range(len(queries))])
        wanted = min(k + _SPARE, len(self))
        if wanted == 0:
            return [Ranking(self._passage_ids, np.empty(0, np.float64)) for _ in queries]
        scores, rows = self._faiss.search(np.ascontiguousarray(queries), wanted)
        return [self._rank(*found, k) for found in zip(queries, scores, rows, strict=True)]

    def _rank(
        self, query: NDArray[np.float32], scores: NDArray[np.float32], rows: NDArray[np.int64], k: int
    ) -> Ranking:
        """Widen the candidates until the last one cannot belong to the best k, then score them exactly."""
        # Each of the two sums of `width` products of unit vectors is off by at most width * eps / 2.
        slack = 2 * self.width * float(np.finfo(np.float32).eps)
        while len(rows) < len(self) and scores[-1] > scores[k - 1] - slack:
            found = self._faiss.search(query[np.newaxis], min(2 * len(rows), len(self)))
            scores, rows = found[0][0], found[1][0]
        stored = self._faiss.reconstruct_batch(rows).astype(np.float64)  # (candidates, width)
        # A product and a sum along the row: the same bits for a pair of vectors whatever the batch.
        exact = (stored * query.astype(np.float64)).sum(axis=1)
        return best(self._passage_ids[rows], exact, k, self._places)
