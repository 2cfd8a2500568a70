"""A threshold that keeps a promise: the share of wrong answers stays below a target, with stated probability.

On held-back questions the answers are walked through from the surest down. At growing numbers of them an
upper bound on the error of all such answers is computed; the walk goes on as long as the bound is at most the
target, and the last threshold that passed is taken. As the thresholds are tested in a fixed order and the
first failure ends it, no correction for their number is needed (fixed-sequence testing).

What it asks for: held-back questions drawn as those to come are, and an error that falls as the threshold
rises. Then P(error above the target) <= delta over the drawing of the held-back questions. It promises
nothing for questions of another kind.

Source: Angelopoulos, Bates, Candès, Jordan and Lei 2021, "Learn then Test: Calibrating Predictive Algorithms
to Achieve Risk Control", section 3; Bates et al. 2021, "Distribution-Free, Risk-Controlling Prediction Sets".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

import numpy as np

from .forecasts import require_forecasts

DELTA = 0.1
PERCENTS = range(1, 51)
GROWTH = 1.05  # tests close together would fail by chance more often, and tell little that is new
ALLOWANCE = 0.6
PRECISION = 1e-12


@dataclass(frozen=True, slots=True)
class Answered:
    """What answering at `threshold` or above did: `errors` of `answered` answers."""

    threshold: float
    answered: int
    errors: int

    def passes(self, target: float, delta: float = DELTA) -> bool:
        """True when the upper bound on the error is at most the target.

        P(Bin(n, target) <= errors) <= delta says the same as `clopper_pearson_upper(errors, n, delta) <=
        target`, and needs no search for the bound.
        """
        return binomial_cdf(self.errors, self.answered, target) <= delta


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for X ~ Bin(n, p), 0 <= k <= n: sum over i <= k of n! / (i! (n - i)!) p^i (1 - p)^(n - i).

    >>> round(binomial_cdf(1, 2, 0.5), 6)
    0.75
    """
    if p <= 0 or k >= n:
        return 1.0
    if p >= 1:
        return 0.0
    i = np.arange(1, k + 1)
    log_choose = np.concatenate([[0.0], np.cumsum(np.log((n - i + 1) / i))])  # (k + 1,)
    log_terms = log_choose + np.arange(k + 1) * math.log(p) + (n - np.arange(k + 1)) * math.log1p(-p)
    return min(1.0, float(np.exp(log_terms).sum()))


def clopper_pearson_upper(errors: int, n: int, delta: float = DELTA) -> float:
    """The upper bound on an error rate after `errors` in `n` trials, too low with probability <= delta.

    The p at which P(Bin(n, p) <= errors) = delta; 1.0 when all trials were errors.
    Source: Clopper and Pearson 1934, "The Use of Confidence or Fiducial Limits", one-sided.
    ValueError: not 0 <= errors <= n, n < 1, or delta outside of 0..1, ends excluded.

    >>> round(clopper_pearson_upper(0, 10), 6)  # 1 - 0.1^(1/10)
    0.205672
    """
    _check_delta(delta)
    if not 0 <= errors <= n or n < 1:
        raise ValueError(f"{errors} errors in {n} trials; expected 0 <= errors <= trials, and a trial")
    low, high = errors / n, 1.0
    while high - low > PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if binomial_cdf(errors, n, middle) > delta else (low, middle)
    return high


def thresholds_to_test(confidences: Sequence[float], right: Sequence[float]) -> tuple[Answered, ...]:
    """The thresholds that are tested, from the highest down, each with what it answers.

    Numbers of answers grow by a twentieth, or by one where that is less; equal confidences go together.
    ValueError: see `forecasts.require_forecasts`.

    >>> [(one.threshold, one.errors) for one in thresholds_to_test([0.9, 0.2, 0.9, 0.6], [1, 0, 0, 1])]
    [(0.9, 1), (0.6, 1), (0.2, 2)]
    """
    require_forecasts(confidences, right)
    ordered = sorted(zip(confidences, right, strict=True), key=lambda pair: -pair[0])
    answered, errors, wanted, tested = 0, 0, 1, []
    for threshold, tied in groupby(ordered, key=lambda pair: pair[0]):
        outcomes = [outcome for _, outcome in tied]
        answered, errors = answered + len(outcomes), errors + outcomes.count(0)
        if answered >= wanted or answered == len(ordered):
            tested.append(Answered(threshold, answered, errors))
            wanted = math.ceil(answered * GROWTH)
    return tuple(tested)


def controlled(tested: Sequence[Answered], target: float, delta: float = DELTA) -> Answered | None:
    """The lowest threshold that passes, as does every greater one tested.

    None when the first test fails. It is at the least number of answers with which an error of six tenths of
    the target would pass: with fewer, not even a good reader could be told from a bad one.
    ValueError: a target outside of 0..1, ends excluded, and delta likewise.

    >>> controlled(thresholds_to_test([0.9] * 50 + [0.1] * 50, [1] * 50 + [0] * 50), 0.2).threshold
    0.9
    """
    least, found = least_answers(target, delta), None
    for one in tested:
        if one.answered >= least:
            if not one.passes(target, delta):
                break
            found = one
    return found


@cache
def least_answers(target: float, delta: float = DELTA) -> int:
    """The least n at which floor(0.6 target n) errors give a bound that is at most the target.

    >>> least_answers(0.1), least_answers(0.5)
    (65, 9)
    """
    _check_delta(delta)
    if not 0 < target < 1:
        raise ValueError(f"the target is {target}; expected a share of wrong answers between 0 and 1")
    n = 1
    while binomial_cdf(math.floor(ALLOWANCE * target * n), n, target) > delta:
        n += 1
    return n


def thresholds_by_percent(
    confidences: Sequence[float], right: Sequence[float], delta: float = DELTA
) -> dict[int, float]:
    """The threshold for each whole percentage of errors, 1 to 50, that can be promised."""
    _check_delta(delta)
    tested = thresholds_to_test(confidences, right)
    found = {percent: controlled(tested, percent / 100, delta) for percent in PERCENTS}
    return {percent: one.threshold for percent, one in found.items() if one is not None}


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta}; expected a probability between 0 and 1")
