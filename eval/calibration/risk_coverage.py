"""Risk against coverage: how wrong the answers are when only the surest are given.

Every question has a confidence and a credit, 1 for right and 0 for wrong or an F1 in between. A threshold
answers those at or above it: coverage is their share of all questions, risk their mean loss, 1 - credit.
Answers of equal confidence are given together, so nothing here depends on the order of the input.
Source: El-Yaniv and Wiener 2010, "On the Foundations of Noise-free Selective Classification"; Geifman and
El-Yaniv 2017, "Selective Classification for Deep Neural Networks", section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, fsum

from .forecasts import require_forecasts


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """What answering at `threshold` or above does: the share answered, and their mean loss; both 0..1."""

    threshold: float
    coverage: float
    risk: float


def risk_coverage_curve(confidences: Sequence[float], credit: Sequence[float]) -> tuple[RiskPoint, ...]:
    """One point for each confidence that occurs, from the highest down to all answered (coverage 1).

    ValueError: see `forecasts.require_forecasts`; a credit may be any number in 0..1.

    >>> [(p.threshold, p.coverage, p.risk) for p in risk_coverage_curve([0.9, 0.2, 0.9, 0.6], [1, 0, 0, 1])]
    [(0.9, 0.5, 0.5), (0.6, 0.75, 0.3333333333333333), (0.2, 1.0, 0.5)]
    """
    points: list[RiskPoint] = []
    answered, lost = 0, 0.0
    for threshold, losses in _tied_losses(confidences, credit):
        answered, lost = answered + len(losses), lost + fsum(losses)
        points.append(RiskPoint(threshold, answered / len(confidences), lost / answered))
    return tuple(points)


def aurc(confidences: Sequence[float], credit: Sequence[float]) -> float:
    """The area under the curve of risk against coverage, 0..1; lower is better.

    AURC = 1/n sum over k of the risk of the k surest answers. Inside a tie that is its mean over all orders
    of the tied answers: the loss grows evenly.
    Source: Geifman, Uziel and El-Yaniv 2019, "Bias-Reduced Uncertainty Estimation for Deep Neural
    Classifiers", section 3. ValueError as for `risk_coverage_curve`.

    >>> round(aurc([0.9, 0.6, 0.2], [1, 0, 1]), 6)  # risks 0, 1/2, 1/3
    0.277778
    """
    return _mean_risk([losses for _, losses in _tied_losses(confidences, credit)])


def excess_aurc(confidences: Sequence[float], credit: Sequence[float]) -> float:
    """AURC less that of the best order of the same answers, 0 when the surest are the best ones.

    Unlike AURC it does not fall merely because more answers are right.
    Source: Geifman, Uziel and El-Yaniv 2019, E-AURC; the best area is computed, not approximated.
    ValueError as for `risk_coverage_curve`.

    >>> round(excess_aurc([0.9, 0.6, 0.2], [1, 0, 1]), 6)  # the best order has risks 0, 0, 1/3
    0.166667
    """
    area = aurc(confidences, credit)
    return max(0.0, area - _mean_risk([[loss] for loss in sorted(1 - one for one in credit)]))


def coverage_at_risk(confidences: Sequence[float], credit: Sequence[float], risk: float) -> float:
    """The largest coverage that a threshold reaches with at most this risk; 0.0 when none does.

    It is measured on the questions given: no promise for others. ValueError: a risk outside 0..1, and as
    for `risk_coverage_curve`.

    >>> coverage_at_risk([0.9, 0.8, 0.6, 0.2], [1, 0, 1, 1], risk=0.3)
    1.0
    """
    if not 0 <= risk <= 1:
        raise ValueError(f"risk is {risk}; expected a number in 0..1")
    curve = risk_coverage_curve(confidences, credit)
    return max((point.coverage for point in curve if point.risk <= risk), default=0.0)


def credit_at_coverage(confidences: Sequence[float], credit: Sequence[float], coverage: float) -> float:
    """The mean credit of the surest answers, so many of them that at least this share of all is answered.

    Of answers of equal confidence that do not all belong to them, each counts with their mean credit.
    ValueError: a coverage outside 0..1 or 0, and as for `risk_coverage_curve`.

    >>> credit_at_coverage([0.9, 0.2, 0.6, 0.6], [1, 0, 1, 0], coverage=0.5)
    0.75
    """
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage is {coverage}; expected a number above 0, at most 1")
    left = wanted = ceil(coverage * len(confidences))
    gained = 0.0
    for _, losses in _tied_losses(confidences, credit):
        taken = min(left, len(losses))
        gained += taken * (1 - fsum(losses) / len(losses))
        left -= taken
    return gained / wanted


def _tied_losses(confidences: Sequence[float], credit: Sequence[float]) -> list[tuple[float, list[float]]]:
    """The losses at each confidence, highest confidence first."""
    require_forecasts(confidences, credit, binary=False)
    pairs = sorted(zip(confidences, credit, strict=True), key=lambda pair: -pair[0])
    return [
        (confidence, [1 - one for _, one in tied])
        for confidence, tied in groupby(pairs, key=lambda pair: pair[0])
    ]


def _mean_risk(tied: Sequence[Sequence[float]]) -> float:
    """1/n sum over k of (loss of the first k) / k, where the loss of a group grows evenly within it."""
    risks: list[float] = []
    lost = 0.0
    for losses in tied:
        each = fsum(losses) / len(losses)
        before = len(risks)
        risks += [(lost + i * each) / (before + i) for i in range(1, len(losses) + 1)]
        lost += fsum(losses)
    return fsum(risks) / len(risks)
