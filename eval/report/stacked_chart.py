"""Counts that make a whole, a row a whole: what became of the questions of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from .axis import Scale, ticks
from .frame import RIGHT, bottom_axis, drawing, shortened, text, width_of
from .markup import element

LEFT, TOP, NAME, ROW, BAR = 112.0, 8.0, 106.0, 34.0, 20.0


def stacked_chart(
    label: str, rows: Sequence[tuple[str, Mapping[str, int]]], classes: Mapping[str, str]
) -> Markup:
    """Each (row, counts by part) as one bar of 100 %; `classes` give the order and the look of the parts."""
    bottom = TOP + ROW * len(rows)
    x = Scale(0, 100, LEFT, RIGHT)
    content = bottom_axis(x, ticks(0, 100), TOP, bottom, "% of the questions")
    for i, (name, counts) in enumerate(rows):
        content += _bar(name, counts, classes, x, TOP + i * ROW + (ROW - BAR) / 2)
    return drawing(label, bottom + 36, content)


def _bar(
    name: str, counts: Mapping[str, int], classes: Mapping[str, str], x: Scale, y: float
) -> list[Markup]:
    total = sum(counts.values())
    drawn = [
        text(NAME, y + 9, shortened(name, NAME), "end", "group"),
        text(NAME, y + 21, f"n = {total:,}", "end"),
    ]
    before = 0
    for part, class_ in classes.items():
        count = counts.get(part, 0)
        left, right = (x(100 * share / total) for share in (before, before + count))
        before += count
        if not count:
            continue
        told = element("title", [f"{name}: {count:,} {part} ({100 * count / total:.1f} %)"])
        drawn.append(
            element(
                "rect",
                [told],
                class_=class_,
                x=left + 0.75,
                y=y,
                width=max(0.5, right - left - 1.5),
                height=BAR,
            )
        )
        if right - left > width_of(f"{count:,}") + 4:
            drawn.append(text((left + right) / 2, y + BAR / 2 + 4, f"{count:,}", "middle", f"on {class_}"))
    return drawn
