"""How a promised error holds up: thresholds chosen on one half of some questions, measured on the other.

The error of the other half is itself only an estimate, so it lies above the target more often than delta
even where the promise, which is of the error over all questions to come, is kept: its own scatter is added.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from .risk_control import DELTA, controlled, thresholds_to_test

N_SPLITS = 200


@dataclass(frozen=True, slots=True)
class HeldPromise:
    """What came of `splits`; `met` is the share of them in which a threshold could be chosen.

    `above` is the share in which the error of the other half is above the target; `error` and `coverage` are
    means, that of the error over the halves that answered at all, None where none did.
    """

    target: float
    delta: float
    splits: int
    met: float
    above: float
    error: float | None
    coverage: float


def check_by_halves(
    confidences: Sequence[float],
    right: Sequence[float],
    target: float,
    delta: float = DELTA,
    splits: int = N_SPLITS,
    seed: int = 0,
) -> HeldPromise:
    """The promise of `risk_control.controlled`, tried on random halves of these questions.

    Where no threshold can be chosen all is declined: nothing is above the target, and nothing covered.
    ValueError: fewer than two questions or one split, and as for `risk_control`.
    """
    if len(confidences) < 2 or splits < 1:
        raise ValueError(f"{len(confidences)} questions in {splits} splits; expected at least 2 in 1")
    rng, pairs = random.Random(seed), list(zip(confidences, right, strict=True))
    met, errors, coverages = 0, [], []
    for _ in range(splits):
        rng.shuffle(pairs)
        half = len(pairs) // 2
        chosen = controlled(thresholds_to_test(*zip(*pairs[:half], strict=True)), target, delta)
        met += chosen is not None
        rest = pairs[half:]
        given = [credit for sure, credit in rest if chosen is not None and sure >= chosen.threshold]
        coverages.append(len(given) / len(rest))
        errors += [1 - fmean(given)] if given else []
    return HeldPromise(
        target,
        delta,
        splits,
        met / splits,
        sum(error > target for error in errors) / splits,
        fmean(errors) if errors else None,
        fmean(coverages),
    )
