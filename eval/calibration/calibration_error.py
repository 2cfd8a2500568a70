"""Calibration error: how far the confidences lie from the share of answers that are right.

Confidences are put into bins of equal width; in each, their mean is compared with the accuracy. The bins
themselves are what a reliability diagram shows. Nothing here depends on the order of the forecasts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

from .forecasts import require_forecasts

N_BINS = 10


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The forecasts with low <= confidence < high; the last bin holds 1.0, too.

    `confidence` is their mean and `accuracy` the share that is right; both are None in an empty bin.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None

    @property
    def gap(self) -> float:
        """|accuracy - confidence|; 0.0 for an empty bin."""
        if self.confidence is None or self.accuracy is None:
            return 0.0
        return abs(self.accuracy - self.confidence)


def reliability_bins(
    confidences: Sequence[float], right: Sequence[float], n_bins: int = N_BINS
) -> tuple[ReliabilityBin, ...]:
    """The bins from low to high, the empty ones, too; `right` is 1 or 0 for each confidence.

    The edges are k / n_bins, and a confidence that equals one belongs to the bin above it.
    ValueError: n_bins < 1, and see `forecasts.require_forecasts`.

    >>> reliability_bins([0.9, 1.0], [True, False])[-1]
    ReliabilityBin(low=0.9, high=1.0, count=2, confidence=0.95, accuracy=0.5)
    """
    if n_bins < 1:
        raise ValueError(f"n_bins is {n_bins}; expected at least 1")
    require_forecasts(confidences, right)
    edges = [k / n_bins for k in range(n_bins + 1)]
    members: list[list[tuple[float, float]]] = [[] for _ in range(n_bins)]
    for forecast in zip(confidences, right, strict=True):
        members[min(bisect_right(edges, forecast[0]), n_bins) - 1].append(forecast)
    return tuple(_bin(edges[b], edges[b + 1], members[b]) for b in range(n_bins))


def expected_calibration_error(
    confidences: Sequence[float], right: Sequence[float], n_bins: int = N_BINS
) -> float:
    """ECE, 0..1: the gap of a bin, averaged over the forecasts.

    ECE = sum over the bins of n_b / n |acc(b) - conf(b)|.
    Source: Naeini, Cooper and Hauskrecht 2015, "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning"; Guo et al. 2017, "On Calibration of Modern Neural Networks", equation 3. Deviation: there the
    bins are open below; here above, as 0.9 says "nine of ten" and belongs with what lies above it.
    ValueError as for `reliability_bins`.

    >>> round(expected_calibration_error([0.95] * 4 + [0.65] * 4, [1, 1, 1, 0, 1, 1, 0, 0]), 6)
    0.175
    """
    bins = reliability_bins(confidences, right, n_bins)
    return fsum(one.count * one.gap for one in bins) / len(confidences)


def maximum_calibration_error(
    confidences: Sequence[float], right: Sequence[float], n_bins: int = N_BINS
) -> float:
    """MCE, 0..1: the largest gap of a bin, however few forecasts it holds.

    Source: Guo et al. 2017, equation 5. ValueError as for `reliability_bins`.

    >>> round(maximum_calibration_error([0.95] * 4 + [0.65] * 4, [1, 1, 1, 0, 1, 1, 0, 0]), 6)
    0.2
    """
    return max(one.gap for one in reliability_bins(confidences, right, n_bins))


def _bin(low: float, high: float, forecasts: Sequence[tuple[float, float]]) -> ReliabilityBin:
    if not forecasts:
        return ReliabilityBin(low, high, 0, None, None)
    confidences, right = zip(*forecasts, strict=True)
    return ReliabilityBin(low, high, len(forecasts), fmean(confidences), fmean(right))
