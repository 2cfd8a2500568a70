"""The curve of a training run: the loss of its steps, smoothed, and where it was evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from . import series
from .axis import Scale, number, ticks
from .frame import RIGHT, bottom_axis, drawing, left_axis, rule, text, width_of
from .line_chart import BOTTOM, HEIGHT, LEFT, TOP, thinned
from .markup import element

POINTS = 300
SPANS = 50
"""The smoothed line looks back over about a fiftieth of the steps."""


def smoothed(values: Sequence[float], span: float) -> list[float]:
    """At each value the mean of it and those before, one that is i back weighing (1 - 1 / span)^i.

    >>> smoothed([2.0, 5.0], 2)
    [2.0, 4.0]
    """
    total = weight = 0.0
    means = []
    for value in values:
        total, weight = (1 - 1 / span) * total + value, (1 - 1 / span) * weight + 1
        means.append(total / weight)
    return means


def loss_chart(
    label: str, losses: Sequence[float], evaluations: Sequence[Mapping[str, float]], steps: int
) -> Markup:
    """Steps from left to right, also those to come; each evaluation, with its `step`, by its first figure.

    ValueError without losses.
    """
    if not losses:
        raise ValueError("no losses: the run has not made a step yet")
    line = smoothed(losses, max(1.0, len(losses) / SPANS))
    y_ticks = ticks(0.0 if min(line) < 0.4 * max(line) else min(line), max(line))
    x, y = Scale(0, steps, LEFT, RIGHT), Scale(y_ticks[0], y_ticks[-1], BOTTOM, TOP)
    x_ticks = [value for value in ticks(0, steps) if value <= steps]
    content = left_axis(y, y_ticks, LEFT, RIGHT, "loss") + bottom_axis(x, x_ticks, TOP, BOTTOM, "step")
    content.append(_path(x, y, losses, "raw"))
    content.append(_path(x, y, line, "line s0"))
    content += _marks(x, y, line, evaluations)
    return drawing(label, HEIGHT, content)


def _path(x: Scale, y: Scale, values: Sequence[float], class_: str) -> Markup:
    points = thinned([(x(at), y(value)) for at, value in enumerate(values, 1)], POINTS)
    return element("polyline", class_=class_, points=" ".join(f"{a:.1f},{b:.1f}" for a, b in points))


def _marks(
    x: Scale, y: Scale, line: Sequence[float], evaluations: Sequence[Mapping[str, float]]
) -> Iterator[Markup]:
    """A rule and a marker for each evaluation, and its first figure above where there is room."""
    free_from = LEFT
    for figures in evaluations:
        step = int(figures["step"])
        told = {name: number(value) for name, value in figures.items() if name != "step"}
        at, name = x(step), next(iter(told), "")
        yield rule(at, TOP, at, BOTTOM, "diagonal")
        title = ", ".join(f"{key} {value}" for key, value in told.items())
        yield series.marker(1, at, y(line[min(step, len(line)) - 1]), f"step {step:,}: {title}")
        words = f"{name} {told[name]}" if name else ""
        if at - width_of(words) >= free_from:
            yield text(at, TOP - 6, words, "end")
            free_from = at + 5
