"""The frame that charts are drawn into: grid, ticks, names of the axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from .axis import Scale, number
from .markup import element

WIDTH = 360.0
"""Of every chart, in CSS pixels: small enough that the letters of one stay readable on a telephone."""

RIGHT = WIDTH - 14
CHARACTER = 6.8
"""How wide a letter of the wider fonts is on average."""


def drawing(label: str, height: float, content: Iterable[Markup]) -> Markup:
    """The whole picture; `label` is what a screen reader says of it."""
    box = f"0 0 {WIDTH:g} {height:g}"
    return element("svg", content, class_="chart", viewBox=box, role="img", aria_label=label)


def text(x: float, y: float, words: str, anchor: str = "start", class_: str = "tick") -> Markup:
    """Words at a pixel."""
    return element("text", [words], x=x, y=y, text_anchor=anchor, class_=class_)


def rule(x1: float, y1: float, x2: float, y2: float, class_: str = "grid") -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def bottom_axis(scale: Scale, values: Sequence[float], top: float, bottom: float, name: str) -> list[Markup]:
    """Grid lines from `top` to `bottom`, a number below each where there is room for it, and the name."""
    drawn: list[Markup] = []
    free_from = 0.0
    for value in values:
        x, words = scale(value), number(value)
        drawn.append(rule(x, top, x, bottom))
        half = width_of(words) / 2
        at = min(x, WIDTH - half)
        if at - half >= free_from:
            drawn.append(text(at, bottom + 14, words, "middle"))
            free_from = at + half + 5
    return [*drawn, text((scale.start + scale.end) / 2, bottom + 30, name, "middle", "name")]


def left_axis(scale: Scale, values: Sequence[float], left: float, right: float, name: str) -> list[Markup]:
    """Grid lines from `left` to `right`, a number beside each, and the name above them."""
    drawn: list[Markup] = []
    for value in values:
        y = scale(value)
        drawn += [rule(left, y, right, y), text(left - 6, y + 4, number(value), "end")]
    return [*drawn, text(2, scale.end - 10, name, "start", "name")]


def width_of(words: str) -> float:
    """About how wide words are at the size of ticks."""
    return CHARACTER * len(words)


def shortened(words: str, width: float) -> str:
    """The words, or as much of their beginning and their end as fits, where names of a kind differ.

    >>> shortened("a long name", 40)
    'a …me'
    """
    fits = max(3, int(width / CHARACTER))
    if len(words) <= fits:
        return words
    ending = 2 * fits // 3 - 1
    return f"{words[: fits - 1 - ending]}…{words[-ending:]}"
