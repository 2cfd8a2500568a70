"""Calibration error over bins that hold equally many forecasts.

Bins of equal width are mostly empty where confidences crowd together, and then say little; bins of equal mass
divide the crowd. Both errors are reported side by side, as each hides what the other shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import fsum
from statistics import fmean

from .calibration_error import ReliabilityBin
from .forecasts import require_forecasts


def equal_mass_bins(
    confidences: Sequence[float], right: Sequence[float], n_bins: int
) -> tuple[ReliabilityBin, ...]:
    """The bins from low to high; their counts differ by one at most, and none is empty.

    `low` and `high` are the least and the greatest confidence in a bin. Equal confidences may lie on both
    sides of an edge; each then counts with the accuracy of all that are equal to it, so that the order of the
    forecasts does not matter.
    ValueError: n_bins < 1, and see `forecasts.require_forecasts`.

    >>> [(one.count, one.accuracy) for one in equal_mass_bins([0.2, 0.9, 0.9, 0.1], [0, 1, 0, 0], 2)]
    [(2, 0.0), (2, 0.5)]
    """
    if n_bins < 1:
        raise ValueError(f"n_bins is {n_bins}; expected at least 1")
    require_forecasts(confidences, right)
    pairs = sorted(zip(confidences, right, strict=True), key=lambda pair: pair[0])
    shared: list[tuple[float, float]] = []
    for confidence, tied in groupby(pairs, key=lambda pair: pair[0]):
        outcomes = [outcome for _, outcome in tied]
        shared += [(confidence, fmean(outcomes))] * len(outcomes)
    edges = [len(shared) * b // n_bins for b in range(n_bins + 1)]
    return tuple(_bin(shared[edges[b] : edges[b + 1]]) for b in range(n_bins) if edges[b] < edges[b + 1])


def equal_mass_calibration_error(confidences: Sequence[float], right: Sequence[float], n_bins: int) -> float:
    """ECE over bins of equal mass, 0..1: the gap of a bin, averaged over the forecasts.

    Source: Nguyen and O'Connor 2015, "Posterior Calibration and Exploratory Analysis for Natural Language
    Processing Models", section 4 (adaptive bins). ValueError as for `equal_mass_bins`.

    >>> round(equal_mass_calibration_error([0.9] * 2 + [0.3] * 2, [1, 0, 0, 0], 2), 6)  # (0.4 + 0.3) / 2
    0.35
    """
    bins = equal_mass_bins(confidences, right, n_bins)
    return fsum(one.count * one.gap for one in bins) / len(confidences)


def _bin(members: Sequence[tuple[float, float]]) -> ReliabilityBin:
    low, high = members[0][0], members[-1][0]
    mean, accuracy = fmean(sure for sure, _ in members), fmean(credit for _, credit in members)
    return ReliabilityBin(low, high, len(members), mean, accuracy)
