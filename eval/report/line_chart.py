"""Curves over one number, such as recall at k or risk against coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import series
from .axis import Scale, number, ticks
from .frame import RIGHT, bottom_axis, drawing, left_axis

LEFT, TOP, BOTTOM, HEIGHT = 40.0, 28.0, 222.0, 258.0
MARKERS = 12


@dataclass(frozen=True, slots=True)
class Curve:
    """A series: its place among all, its name, and its points from left to right."""

    index: int
    name: str
    points: Sequence[tuple[float, float]]


def line_chart(
    label: str, curves: Sequence[Curve], x_name: str, y_name: str, x_values: Sequence[float] = ()
) -> Markup:
    """The curves in one frame. With `x_values` the x axis is logarithmic and names these; else it is 0..1.

    The y axis begins near the least value, and at 0 where that is near.
    """
    ys = [y for curve in curves for _, y in curve.points]
    y_ticks = ticks(0.0 if min(ys) < 0.4 * max(ys) else min(ys), max(ys))
    x = (
        Scale(min(x_values), max(x_values), LEFT + 8, RIGHT - 8, log=True)
        if x_values
        else Scale(0, 1, LEFT, RIGHT)
    )
    y = Scale(y_ticks[0], y_ticks[-1], BOTTOM, TOP)
    content = left_axis(y, y_ticks, LEFT, RIGHT, y_name)
    content += bottom_axis(x, x_values or ticks(0, 1), TOP, BOTTOM, x_name)
    for curve in curves:
        content += _drawn(curve, x, y)
    return drawing(label, HEIGHT, content)


def thinned(points: Sequence[tuple[float, float]], most: int = 160) -> list[tuple[float, float]]:
    """At most `most` of the points, evenly chosen, always with the first and the last."""
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(i * step)] for i in range(most)]


def _drawn(curve: Curve, x: Scale, y: Scale) -> list[Markup]:
    """The line, and markers on it, few enough to be told from one another."""
    path = [(x(at), y(value)) for at, value in curve.points]
    marks = [
        series.marker(curve.index, x(at), y(value), f"{curve.name}: {number(value)} at {number(at)}")
        for at, value in thinned(curve.points, MARKERS)
    ]
    return [series.line(curve.index, path), *marks]
