"""A reliability diagram: how often answers of each confidence are right, and how many there are of them."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ..calibration.calibration_error import ReliabilityBin
from ..significance.wilson import wilson_interval
from . import series
from .axis import Scale, number, ticks
from .frame import RIGHT, bottom_axis, drawing, left_axis, rule, text
from .markup import element

LEFT, TOP, MIDDLE, STRIP, BOTTOM, HEIGHT = 40.0, 28.0, 208.0, 222.0, 262.0, 298.0


def reliability_chart(label: str, bins: Sequence[ReliabilityBin], index: int) -> Markup:
    """Accuracy against mean confidence, a marker a bin, above the counts of the bins.

    On the diagonal confidence keeps its word; the whiskers are Wilson's intervals of 95 %.
    """
    x, y = Scale(0, 1, LEFT, RIGHT), Scale(0, 1, MIDDLE, TOP)
    content = left_axis(y, ticks(0, 1), LEFT, RIGHT, "share that is right")
    content += bottom_axis(x, ticks(0, 1), TOP, BOTTOM, "confidence")
    content.append(rule(x(0), y(0), x(1), y(1), "diagonal"))
    content += _counts(bins, x, index)
    found = [one for one in bins if one.count]
    content += [mark for one in found for mark in _mark(one, x, y, index)]
    return drawing(label, HEIGHT, content)


def _mark(one: ReliabilityBin, x: Scale, y: Scale, index: int) -> list[Markup]:
    confidence, accuracy = one.confidence or 0.0, one.accuracy or 0.0
    low, high = wilson_interval(accuracy, one.count)
    told = f"confidence {number(confidence)}: {number(100 * accuracy)} % of {one.count:,} are right"
    at = x(confidence)
    whisker = rule(at, y(low), at, y(high), f"whisker {series.colour(index)}")
    return [whisker, series.marker(index, at, y(accuracy), told, radius=4.5)]


def _counts(bins: Sequence[ReliabilityBin], x: Scale, index: int) -> list[Markup]:
    most = max(one.count for one in bins)
    height = Scale(0, most, 0, BOTTOM - STRIP)
    drawn = [rule(LEFT, y, RIGHT, y) for y in (STRIP, BOTTOM)]
    drawn.append(text(LEFT - 6, STRIP + 6, f"{most:,}", "end"))
    for one in bins:
        told = element("title", [f"{one.count:,} of confidence {number(one.low)} to {number(one.high)}"])
        left, tall = x(one.low) + 1, height(one.count)
        width = x(one.high) - x(one.low) - 2
        bar = f"count {series.colour(index)}"
        drawn.append(element("rect", [told], class_=bar, x=left, y=BOTTOM - tall, width=width, height=tall))
    return drawn
