"""What proposes the nearest rows for an exact search, on whatever hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Nearest:
    """For each query the n rows with the highest approximate scores, best first.

    `scores` (Q, n) float32 and `rows` (Q, n) int64; the difference of two scores is at most `slack` away from
    that of the exact ones.
    """

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]
    slack: float


class Scan(Protocol):
    """Looks at every live vector, or at every one that is chosen."""

    def nearest(
        self, queries: NDArray[np.float32], n: int, chosen: NDArray[np.bool_] | None = None
    ) -> Nearest:
        """The nearest n rows for each row of `queries` (Q, width), unit; at least n must be chosen."""


def merge(kept: Nearest | None, found: Nearest, n: int) -> Nearest:
    """The best n of two proposals for the same queries."""
    if kept is None:
        return found
    scores = np.concatenate([kept.scores, found.scores], axis=1)
    rows = np.concatenate([kept.rows, found.rows], axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    best_scores, best_rows = (
        np.take_along_axis(scores, order, axis=1),
        np.take_along_axis(rows, order, axis=1),
    )
    return Nearest(best_scores, best_rows, max(kept.slack, found.slack))
