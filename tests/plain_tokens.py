"""Passages of token vectors that lie in memory, encoded, and MaxSim by two loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from made_vectors import unit
from numpy.typing import NDArray

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.maxsim.token_codes import TokenCodes

Rows = NDArray[np.float32]


class PlainTokens:
    """What a search reads of stored tokens; passages, the decoded ones, are numbered from 1."""

    def __init__(self, passages: Sequence[Rows], bits: int = 4) -> None:
        every = np.concatenate(passages)
        self.codebook = Codebook.train(every, len(every), bits)
        self.lengths = np.array([len(each) for each in passages], np.int64)
        self._codes = self.codebook.encode(every)
        self._ends = np.cumsum(self.lengths)
        self.passages = np.split(self.codebook.decode(self._codes), self._ends[:-1])
        self.passage_ids = np.arange(1, len(passages) + 1)
        self.width = every.shape[1]
        self.reads: list[int] = []  # rows at a time

    def __len__(self) -> int:
        return len(self.lengths)

    def rows_of(self, passage_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where((passage_ids >= 1) & (passage_ids <= len(self)), passage_ids - 1, -1)

    def read(self, rows: NDArray[np.int64]) -> TokenCodes:
        self.reads.append(len(rows))
        at = np.concatenate([np.arange(self._ends[row] - self.lengths[row], self._ends[row]) for row in rows])
        codes = self._codes
        return TokenCodes(codes.centroids[at], codes.values[at], codes.scales[at])

    def check(self) -> None:
        """Nothing can be damaged."""

    def release(self) -> None:
        """Nothing is mapped."""


def token_passages(n: int, width: int = 16, longest: int = 40, seed: int = 0) -> list[Rows]:
    """Passages of 1 to `longest` tokens around a few topics; some similarities are negative."""
    draw = np.random.default_rng(seed)
    topics = np.random.default_rng(7).standard_normal((12, width))
    lengths = draw.integers(1, longest + 1, n)
    return [
        unit(topics[draw.integers(0, 12, m)] + draw.standard_normal((m, width))) for m in lengths.tolist()
    ]


def maxsim(question: Rows, passage: Rows) -> float:
    """The sum over the question's rows of the largest inner product with a row of the passage."""
    total = 0.0
    for q in question.astype(np.float64):
        total += max(float(q @ d) for d in passage.astype(np.float64))
    return total
