"""The protocol of every index, the form of its results, and the array types that the modules share.

An index holds the live rows of one commit, read only. Rows are added, deleted and committed through the
`Writer` of a store, for all its indexes in one transaction, so that they never differ from the catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ids = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Shorts = NDArray[np.uint16]
Uints = NDArray[np.uint32]
Counts = NDArray[np.integer]
Mask = NDArray[np.bool_]
TermLists = Sequence[Sequence[str]]
Queries = TypeVar("Queries", contravariant=True)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best passages for one query, best first.

    passage_ids: (n,) int64
    scores: (n,) float64, higher is better
    """

    passage_ids: Ids
    scores: Doubles

    @classmethod
    def empty(cls) -> Ranking:
        """No passage."""
        return cls(np.empty(0, np.int64), np.empty(0, np.float64))


class Index(Protocol[Queries]):
    """Queries are of the kind the index ranks by: lists of terms, or the rows of a float32 matrix."""

    def __len__(self) -> int:
        """The number of live passages that can be found."""

    def search(self, queries: Queries, k: int, among: Ids | None = None) -> list[Ranking]:
        """The best k passages for each query, ties by (document id, start); `ValueError` for k below 1.

        `among`, ascending passage ids, restricts the search to these passages; ids that the index does not
        hold are ignored. Scores are those of the whole collection, so the ranking equals the complete one
        without the other passages.
        """


Places = Callable[[Sequence[int]], list[tuple[str, int, int]]]
"""The (document id, start, end) of each passage, in this order: they order equal scores."""
