"""What a ranking and the judgements of its query say of each other: all that a ranking measure looks at.

As in trec_eval, a document that was not judged is passed over: it takes up a rank and gains nothing. A
relevance below 1 is judged and not relevant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """The judged documents of one ranking, and what there was to find; made by `judge`.

    `ranks` (n,) says where they stand, ascending from 1, and `levels` (n,) their relevance. `n_ranked` counts
    all documents of the ranking, `judgements` (m,) holds the relevance of every judged one, best first.
    """

    ranks: Integers
    levels: Integers
    n_ranked: int
    judgements: Integers

    def first(self, k: int | None) -> tuple[Integers, Integers]:
        """The ranks and levels up to rank k, or all of them; ValueError: k < 1."""
        if k is None:
            return self.ranks, self.levels
        if k < 1:
            raise ValueError(f"k is {k}; expected at least 1")
        n = int(np.searchsorted(self.ranks, k, side="right"))
        return self.ranks[:n], self.levels[:n]

    def relevant_ranks(self, rel: int, k: int | None = None) -> Integers:
        """The ranks up to k of the documents with a relevance of at least `rel`; ValueError: rel < 1."""
        if rel < 1:
            raise ValueError(f"rel is {rel}; expected at least 1")
        ranks, levels = self.first(k)
        return ranks[levels >= rel]

    def n_relevant(self, rel: int) -> int:
        """How many judged documents have a relevance of at least `rel`, found or not."""
        return int(np.count_nonzero(self.judgements >= rel))


def judge(ranking: Sequence[str], judged: Mapping[str, int]) -> JudgedRanking:
    """The ranking of distinct documents, best first, seen through the judgements of its query.

    >>> judge(["d3", "d1", "d2"], {"d1": 2, "d2": 0, "d9": 1})
    JudgedRanking(ranks=array([2, 3]), levels=array([2, 0]), n_ranked=3, judgements=array([2, 1, 0]))
    """
    found = [(rank, judged[document]) for rank, document in enumerate(ranking, start=1) if document in judged]
    ranks, levels = np.array(found, dtype=np.int64).reshape(-1, 2).T
    judgements = np.sort(np.fromiter(judged.values(), dtype=np.int64, count=len(judged)))[::-1]
    return JudgedRanking(ranks, levels, len(ranking), judgements)
