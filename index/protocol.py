"""What every index is: rows keyed by passage id that are added, deleted, searched and committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Rows = TypeVar("Rows", contravariant=True)
Queries = TypeVar("Queries", contravariant=True)


class Index(Protocol[Rows, Queries]):
    """Rows and queries are whatever the index ranks: lists of terms, or float32 vectors."""

    def add(self, passage_ids: Sequence[int], rows: Rows) -> None:
        """Stage one row a passage; nothing is visible before `commit`."""

    def delete(self, passage_ids: Sequence[int]) -> None:
        """Stage the removal of passages; unknown ids are ignored."""

    def search(self, queries: Queries, k: int) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """For each query the ids and scores of its best k live passages, ties by (document, start)."""

    def commit(self) -> None:
        """Make everything staged durable and visible at once, or raise and change nothing."""

    def verify(self) -> list[str]:
        """One line for each damaged or missing file; empty when all digests hold."""

    def close(self) -> None:
        """Release files and locks; what was staged and not committed is forgotten."""
