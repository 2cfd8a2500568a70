"""The reliability diagram of each system that answers with a confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..calibration.brier import brier_score
from ..calibration.calibration_error import expected_calibration_error, reliability_bins
from .axis import number
from .plot import Plot
from .reliability_chart import reliability_chart
from .system_tally import SystemTally


def reliability_plots(tallies: Sequence[SystemTally]) -> Iterator[Plot]:
    """One diagram a system; none for a system without confidences."""
    for index, tally in enumerate(tallies):
        if tally.forecasts.confidences:
            yield _reliability_plot(index, tally, "" if len(tallies) == 1 else f": {tally.name}")


def _reliability_plot(index: int, tally: SystemTally, of: str) -> Plot:
    confidences, credits = tally.forecasts.confidences, tally.forecasts.credits
    bins = reliability_bins(confidences, credits)
    ece = number(expected_calibration_error(confidences, credits))
    brier = number(brier_score(confidences, credits))
    rows = [
        [
            f"{number(one.low)} to {number(one.high)}",
            f"{one.count:,}",
            number(one.confidence or 0),
            number(one.accuracy or 0),
        ]
        for one in bins
        if one.count
    ]
    return Plot(
        f"Reliability{of}",
        reliability_chart(f"Reliability diagram{of}: accuracy by confidence", bins, index),
        ["confidence", "answers", "mean confidence", "accuracy"],
        rows,
        note=f"ECE {ece}, Brier {brier}; {tally.forecasts.told}. The bars count them.",
    )
