"""Distributions in few lines: a box from quartile to quartile, its median, and a whisker from p5 to p95."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import series
from .axis import Scale, log_ticks, number, ticks
from .frame import RIGHT, bottom_axis, drawing, rule, shortened, text
from .markup import element

LEFT, TOP, NAME, ROW, BOX = 112.0, 8.0, 106.0, 26.0, 12.0
LOGARITHMIC_FROM = 50
"""How many times the least value the greatest must be for a logarithmic axis."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The quantiles of one group of `n` values at 5, 25, 50, 75 and 95 %."""

    index: int
    name: str
    quantiles: tuple[float, float, float, float, float]
    n: int


def box_chart(label: str, spreads: Sequence[Spread], x_name: str) -> Markup:
    """The spreads below one another, on an axis from 0 or, where they differ much, a logarithmic one."""
    low = min(spread.quantiles[0] for spread in spreads)
    high = max(spread.quantiles[-1] for spread in spreads)
    bottom = TOP + ROW * len(spreads)
    log = low > 0 and high >= LOGARITHMIC_FROM * low
    values = log_ticks(low, high) if log else ticks(0, high)
    x = Scale(values[0], values[-1], LEFT, RIGHT, log)
    content = bottom_axis(x, values, TOP, bottom, x_name + (", logarithmic" if log else ""))
    for i, spread in enumerate(spreads):
        content += _box(spread, x, TOP + (i + 0.5) * ROW)
    return drawing(label, bottom + 36, content)


def _box(spread: Spread, x: Scale, y: float) -> list[Markup]:
    p5, p25, p50, p75, p95 = map(x, spread.quantiles)
    colour = series.colour(spread.index)
    words = ", ".join(
        f"{name} {number(value)}" for name, value in zip(QUANTILES, spread.quantiles, strict=True)
    )
    told = element("title", [f"{spread.name}: {words}, n = {spread.n:,}"])
    box = element(
        "rect", [told], class_=f"box {colour}", x=p25, y=y - BOX / 2, width=max(1.0, p75 - p25), height=BOX
    )
    return [
        text(NAME, y + 4, shortened(spread.name, NAME), "end", "group"),
        rule(p5, y, p95, y, f"whisker {colour}"),
        box,
        rule(p50, y - BOX / 2 - 2, p50, y + BOX / 2 + 2, "median"),
    ]


QUANTILES = ("p5", "p25", "median", "p75", "p95")
