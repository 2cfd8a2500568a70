"""What every index is, and the shape of what it answers.

An index is the live rows of one generation, read only. Rows are added, deleted and committed through the
`Writer` of a store, for all its indexes in one transaction: an index that committed by itself could not stay
in step with the catalog.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Queries = TypeVar("Queries", contravariant=True)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best passages for one query: `passage_ids` (n,) int64 and `scores` (n,) float64, best first."""

    passage_ids: NDArray[np.int64]
    scores: NDArray[np.float64]


class Index(Protocol[Queries]):
    """Queries are whatever the index ranks by: lists of terms, or the rows of a float32 matrix."""

    def __len__(self) -> int:
        """How many live passages can be found."""

    def search(self, queries: Queries, k: int, among: NDArray[np.int64] | None = None) -> list[Ranking]:
        """For each query its best k passages, ties by (document id, start); `ValueError` for k below 1.

        `among`, ascending passage ids, confines the search to them; ids that the index does not hold count
        for nothing. Scores are those of the whole collection, so the ranking is the complete one without
        the other passages, and is as long as k whenever so many of `among` can be found.
        """


class Places(Protocol):
    """Tells where passages stand, to order those that score alike."""

    def __call__(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of each passage, in the order asked."""
