"""Late interaction: the score of a passage is the sum over question rows of their best token in it.

    score(q, d) = sum over i of max over j of <q_i, decode(d_j)>

Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, equation 3. Products are in float32, their sum in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..gate import check_vectors
from ..protocol import Places, Ranking
from ..ranking import best, check_k, rows_among
from .codebook import Codebook
from .stored_tokens import StoredTokens

_BLOCK = 512  # passages that are decoded together


class MaxSimIndex:
    """Ranks live passages for questions that are matrices of unit vectors."""

    def __init__(self, stored: StoredTokens, codebook: Codebook, places: Places) -> None:
        self._stored = stored
        self._codebook = codebook
        self._places = places

    @classmethod
    def build(
        cls,
        stored: StoredTokens,
        codebook: Codebook,
        places: Places,
        exact: bool = False,
        device: str = "cpu",
    ) -> MaxSimIndex:
        """Search the stored tokens by looking at all of them."""
        return cls(stored, codebook, places)

    def __len__(self) -> int:
        """How many live passages have tokens."""
        return len(self._stored)

    @property
    def width(self) -> int:
        """Numbers in a token vector."""
        return self._stored.width

    def search(
        self, queries: Sequence[NDArray[np.float32]], k: int, among: NDArray[np.int64] | None = None
    ) -> list[Ranking]:
        """For each question (m, width), m unit rows of float32, its best k passages by MaxSim.

        `among` are the ids of the passages to which the search is confined; those without tokens are passed
        over.
        """
        check_k(k)
        for number, query in enumerate(queries):
            check_vectors(query, self.width, [f"question {number}"] * len(query))
        chosen = rows_among(self._stored.passage_ids, among)
        rows = np.arange(len(self)) if chosen is None else np.flatnonzero(chosen)
        scores = np.empty((len(queries), len(rows)))
        for at, vectors in enumerate(self._decoded(rows)):
            for number, query in enumerate(queries):
                scores[number, at] = (query @ vectors.T).max(axis=1).sum(dtype=np.float64)
        ids = self._stored.passage_ids[rows]
        return [best(ids, found, k, self._places) for found in scores]

    def _decoded(self, rows: NDArray[np.int64]) -> Iterator[NDArray[np.float32]]:
        for first in range(0, len(rows), _BLOCK):
            block = rows[first : first + _BLOCK]
            vectors = self._codebook.decode(self._stored.read(block))
            yield from np.split(vectors, np.cumsum(self._stored.lengths[block])[:-1])
            self._stored.release()
