"""Comparing systems question by question: means, intervals, p-values, and who won where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .bootstrap import bootstrap_interval
from .holm import holm
from .pairing import Pair
from .randomization import Alternative, Floats, randomization_test


@dataclass(frozen=True, slots=True)
class Change:
    """The two scores of one question."""

    id: str
    question: str
    baseline: float
    system: float

    @property
    def difference(self) -> float:
        """Above 0 where the system did better; what is below 1e-12 is rounding and counts as a tie."""
        return round(self.system - self.baseline, 12)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure of one pair, over the questions that both sides have a score of.

    `interval` is of the mean difference, None for a single question. `p_holm` is corrected for all that was
    tested with it. `wins` and `losses` are of the system, the largest first; then, and among ties, by id.
    """

    pair: Pair
    measure: str
    baseline_mean: float
    system_mean: float
    interval: tuple[float, float] | None
    p: float
    p_holm: float
    wins: tuple[Change, ...]
    losses: tuple[Change, ...]
    ties: tuple[Change, ...]

    @property
    def difference(self) -> float:
        """The mean of the system less that of the baseline."""
        return self.system_mean - self.baseline_mean

    @property
    def questions(self) -> int:
        """How many questions were compared."""
        return len(self.wins) + len(self.losses) + len(self.ties)


@dataclass(frozen=True, slots=True)
class Method:
    """How differences are tested; see `randomization_test` and `bootstrap_interval`."""

    alternative: Alternative = "two-sided"
    permutations: int = 10_000
    seed: int = 0
    confidence: float = 0.95


TWO_SIDED, LOSS = Method("two-sided"), Method("less")
"""Do the systems differ at all; is the system worse than the baseline?"""


def shared_measures(pair: Pair) -> list[str]:
    """The measures of which both sides have a score of one common question, in the baseline's order."""
    before, after = pair.baseline.scores, pair.system.scores
    return [
        name
        for name in before
        if name in after and any(qid in before[name] and qid in after[name] for qid in pair.common)
    ]


def compare(tests: Sequence[tuple[Pair, str]], method: Method = TWO_SIDED) -> list[Comparison]:
    """The comparison of each pair and measure, in order; Holm's correction is over all of them.

    Questions are taken in the order of their ids, so that the order of the files changes nothing.
    ValueError: a pair has no common question with a score of the measure.
    """
    found = [_compare(pair, measure, method) for pair, measure in tests]
    adjusted = holm([one.p for one in found])
    return [replace(one, p_holm=p) for one, p in zip(found, adjusted, strict=True)]


def _compare(pair: Pair, measure: str, method: Method) -> Comparison:
    before, after = pair.baseline.scores.get(measure, {}), pair.system.scores.get(measure, {})
    changes = [
        Change(qid, pair.text(qid), before[qid], after[qid])
        for qid in pair.common
        if qid in before and qid in after
    ]
    if not changes:
        raise ValueError(f"{pair.baseline.system} and {pair.system.system} share no question with {measure}")
    differences = np.array([one.difference for one in changes])
    ordered = sorted(changes, key=lambda one: (-abs(one.difference), one.id))
    return Comparison(
        pair,
        measure,
        float(np.mean([one.baseline for one in changes])),
        float(np.mean([one.system for one in changes])),
        _interval(differences, method),
        randomization_test(differences, method.alternative, method.permutations, method.seed),
        1.0,
        tuple(one for one in ordered if one.difference > 0),
        tuple(one for one in ordered if one.difference < 0),
        tuple(one for one in ordered if one.difference == 0),
    )


def _interval(differences: Floats, method: Method) -> tuple[float, float] | None:
    if len(differences) < 2:
        return None
    return bootstrap_interval(differences, method.confidence, method.permutations, method.seed)
