"""What a system scored by group of questions, as numbers: what the plots by group show."""

from __future__ import annotations

from typing import Any

from ..significance.wilson import wilson_interval
from .system_tally import SystemTally, in_order

GroupFigures = dict[str, dict[str, dict[str, Any]]]


def group_figures(tally: SystemTally) -> GroupFigures:
    """By grouping and group: `n`, and of each score its mean in percent with its interval of 95 %.

    Groups stand in the order of `in_order`; the interval is Wilson's, see there for what it means for F1.
    """
    found: GroupFigures = {}
    for (grouping, score), means in tally.groups.items():
        for group in in_order(grouping, means):
            mean = means[group]
            low, high = wilson_interval(min(mean.value, 1.0), mean.n)
            figures = found.setdefault(grouping, {}).setdefault(group, {"n": mean.n})
            figures[score] = 100 * mean.value
            figures[f"{score}_interval"] = [100 * low, 100 * high]
    return found
