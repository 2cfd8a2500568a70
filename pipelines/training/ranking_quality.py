"""How well a model ranks the passages of held-back lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from spanwise.types import RankingExample

Score = Callable[[Sequence[str], Sequence[Sequence[str]]], Sequence[NDArray[np.float32]]]
"""For each question the scores of its passages, (n,), higher being better."""


def first_ranks(score: Score, held_out: Sequence[RankingExample]) -> dict[str, float]:
    """`mrr`, the mean reciprocal rank of the best positive passage, and how often it is `first`.

    Equal scores count against the positive one.
    """
    scores = score([one.question for one in held_out], [one.passages for one in held_out])
    ranks = [
        1 + int((found[one.n_positive :] >= found[: one.n_positive].max()).sum())
        for one, found in zip(held_out, scores, strict=True)
    ]
    return {"mrr": fmean(1 / rank for rank in ranks), "first": fmean(rank == 1 for rank in ranks)}
