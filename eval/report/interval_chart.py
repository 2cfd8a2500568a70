"""A mean and its interval for each group, a row a group: EM and F1 by question word, for example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import series
from .axis import Scale, ticks
from .frame import RIGHT, bottom_axis, drawing, rule, shortened, text

LEFT, TOP, NAME = 112.0, 8.0, 106.0
BETWEEN, ROW = 9.0, 12.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of `n` values with the bounds of its interval; `index` is the place of its series."""

    index: int
    name: str
    mean: float
    low: float
    high: float
    n: int


def interval_chart(label: str, rows: Sequence[tuple[str, Sequence[Estimate]]], x_name: str) -> Markup:
    """The estimates of each (group, estimates) below one another, on an axis that holds the intervals."""
    heights = [max(2, len(estimates)) * ROW + BETWEEN for _, estimates in rows]
    bottom = TOP + sum(heights)
    shown = [one for _, estimates in rows for one in estimates]
    values = ticks(min(one.low for one in shown), max(one.high for one in shown))
    x = Scale(values[0], values[-1], LEFT, RIGHT)
    content = bottom_axis(x, values, TOP, bottom, x_name)
    top = TOP
    for (group, estimates), height in zip(rows, heights, strict=True):
        content += _row(group, estimates, x, top, height)
        top += height
    return drawing(label, bottom + 36, content)


def _row(group: str, estimates: Sequence[Estimate], x: Scale, top: float, height: float) -> list[Markup]:
    count = f"n = {max(one.n for one in estimates):,}"
    middle = top + height / 2
    drawn = [
        rule(0, top, RIGHT, top, "row"),
        text(NAME, middle - 1, shortened(group, NAME), "end", "group"),
        text(NAME, middle + 11, count, "end"),
    ]
    first = middle - ROW * (len(estimates) - 1) / 2
    for i, one in enumerate(estimates):
        y = first + i * ROW
        told = f"{one.name}, {group}: {one.mean:.1f} ({one.low:.1f} to {one.high:.1f}), n = {one.n:,}"
        whisker = f"whisker {series.colour(one.index)}"
        drawn += [
            rule(x(one.low), y, x(one.high), y, whisker),
            series.marker(one.index, x(one.mean), y, told),
        ]
    return drawn
