"""The Brier score: the squared error of confidences, and what it is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean

from .forecasts import require_forecasts


@dataclass(frozen=True, slots=True)
class BrierParts:
    """brier = reliability - resolution + uncertainty.

    `reliability` is 0 when every confidence equals the accuracy of the answers that have it; `resolution`
    grows with how much accuracy differs between confidences; `uncertainty` is that of the answers alone.
    """

    reliability: float
    resolution: float
    uncertainty: float


def brier_score(confidences: Sequence[float], right: Sequence[float]) -> float:
    """The mean squared difference between a confidence and its outcome, 0..1; lower is better.

    Brier = 1/n sum (p_i - o_i)², o_i 1 when right and 0 when not: half of Brier's own sum over two classes.
    Source: Brier 1950, "Verification of Forecasts Expressed in Terms of Probability", equation 2.
    ValueError: see `forecasts.require_forecasts`.

    >>> round(brier_score([0.9, 0.4], [1, 0]), 6)
    0.085
    """
    require_forecasts(confidences, right)
    return fmean((p - o) ** 2 for p, o in zip(confidences, right, strict=True))


def brier_parts(confidences: Sequence[float], right: Sequence[float]) -> BrierParts:
    """The three parts of the Brier score, with the forecasts grouped by equal confidence.

    reliability = 1/n sum n_k (p_k - o_k)²; resolution = 1/n sum n_k (o_k - o)²; uncertainty = o (1 - o),
    where o_k is the accuracy at confidence p_k and o that of all.
    Source: Murphy 1973, "A New Vector Partition of the Probability Score". It says little where nearly
    every confidence occurs once: round them first.
    ValueError: see `forecasts.require_forecasts`.

    >>> brier_parts([0.75, 0.75, 0.75, 0.75, 0.5, 0.5], [1, 1, 1, 0, 0, 0])
    BrierParts(reliability=0.08333333333333333, resolution=0.125, uncertainty=0.25)
    """
    require_forecasts(confidences, right)
    groups: dict[float, list[float]] = defaultdict(list)
    for p, o in zip(confidences, right, strict=True):
        groups[p].append(o)
    n, overall = len(confidences), fmean(right)
    return BrierParts(
        reliability=fsum(len(found) * (p - fmean(found)) ** 2 for p, found in groups.items()) / n,
        resolution=fsum(len(found) * (fmean(found) - overall) ** 2 for found in groups.values()) / n,
        uncertainty=overall * (1 - overall),
    )
