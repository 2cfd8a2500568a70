"""How long a question takes in each stage, as distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .axis import number
from .box_chart import QUANTILES, Spread, box_chart
from .plot import Plot
from .series import filled_swatch
from .system_tally import SystemTally


def latency_plot(tallies: Sequence[SystemTally]) -> Iterator[Plot]:
    """The milliseconds of every stage of every system, if any were taken."""
    many = len(tallies) > 1
    spreads = [
        _spread(index, f"{stage}, {tally.name}" if many else stage, times)
        for index, tally in enumerate(tallies)
        for stage, times in tally.times_ms.items()
    ]
    if not spreads:
        return
    title = "Milliseconds per question"
    yield Plot(
        title,
        box_chart(f"{title}, by stage", spreads, "milliseconds"),
        ["stage", "n", *(f"{name}, ms" for name in QUANTILES)],
        [[one.name, f"{one.n:,}", *map(number, one.quantiles)] for one in spreads],
        [(filled_swatch(f"box s{i % 6}"), tally.name) for i, tally in enumerate(tallies) if tally.times_ms]
        if many
        else (),
        "Box: quartiles and median; whiskers: p5 to p95. Questions asked together share their time evenly.",
    )


def _spread(index: int, name: str, times: Sequence[float]) -> Spread:
    p5, p25, p50, p75, p95 = (float(value) for value in np.percentile(times, (5, 25, 50, 75, 95)))
    return Spread(index, name, (p5, p25, p50, p75, p95), len(times))
