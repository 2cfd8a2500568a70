"""A series in one line of text, as tall as its bars: ▁▂▃▄▅▆▇█."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """At most `width` bars from the least value to the greatest; of more values each bar is a mean.

    >>> sparkline([8, 4, 2, 1, 1]), sparkline([3, 3]), sparkline([4, 4, 0, 0], width=2), sparkline([])
    ('█▄▂▁▁', '▁▁', '█▁', '')
    """
    n = min(width, len(values))
    means = [fmean(values[i * len(values) // n : (i + 1) * len(values) // n]) for i in range(n)]
    low, high = min(means, default=0.0), max(means, default=0.0)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[round((value - low) / step)] for value in means)
