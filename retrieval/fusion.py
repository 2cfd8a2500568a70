"""Reciprocal rank fusion: several rankings of the same passages become one.

    score(d) = sum over the rankings that hold d of  1 / (c + rank of d)

Only ranks count, so scores of different scales need no calibration.

Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009, with their c = 60.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit

from .hits import check_questions
from .protocol import Retriever

C = 60
_DEPTH = 100  # each stage ranks at least so many passages


def reciprocal_rank(rank: int, c: int = C) -> float:
    """What one ranking gives to the passage at `rank`, counted from 1.

    >>> round(reciprocal_rank(1), 6)
    0.016393
    """
    return 1 / (c + rank)


class FusionRetriever:
    """Asks its stages and fuses their rankings; a hit keeps the score of each stage that found it."""

    def __init__(self, stages: Sequence[Retriever]) -> None:
        if len(stages) < 2:
            raise ValueError(f"a fusion needs at least two retrievers, not {len(stages)}")
        self.name = "+".join(stage.name for stage in stages)
        self._stages = tuple(stages)

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits; a stage that finds nothing takes no part.

        With `among` every stage ranks those passages alone, so that ranks count among them.
        """
        check_questions(questions, k)
        rankings = [stage.search(questions, max(k, _DEPTH), among) for stage in self._stages]
        return [fuse(of_question, k, self.name) for of_question in zip(*rankings, strict=True)]


def fuse(rankings: Sequence[Sequence[Hit]], k: int, name: str) -> list[Hit]:
    """The best k passages of several rankings, scored by reciprocal ranks, ties by (document id, start)."""
    found: dict[int, Hit] = {}
    totals: dict[int, float] = {}
    scores: dict[int, dict[str, float]] = {}
    for ranking in rankings:
        for hit in ranking:
            number = hit.passage.id
            found.setdefault(number, hit)
            totals[number] = totals.get(number, 0.0) + reciprocal_rank(hit.rank)
            scores.setdefault(number, {}).update(hit.scores)
    order = sorted(found, key=lambda number: (-totals[number], *_place(found[number])))[:k]
    return [
        Hit(found[number].passage, totals[number], rank, scores[number] | {name: totals[number]})
        for rank, number in enumerate(order, start=1)
    ]


def _place(hit: Hit) -> tuple[str, int, int]:
    return hit.passage.document_id, hit.passage.start, hit.passage.end
