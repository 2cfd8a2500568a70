"""Figures by group of questions, as lines on stdout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..terminal import visible

NAMES = {"exact": "EM", "f1": "F1", "right": "right", "right_top3": "right in 3"}


def print_groups(groupings: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """A table for each grouping of more than one group: n, then each mean with its 95 % interval."""
    for grouping, groups in groupings.items():
        if len(groups) < 2:
            continue
        width = max(map(len, map(visible, groups)))
        print(f"\nby {grouping}")
        for group, figures in groups.items():
            scores = [f"{NAMES[name]} {_score(figures, name)}" for name in NAMES if name in figures]
            print(f"{visible(group):{width}} {figures['n']:6,}  {'  '.join(scores)}")


def _score(figures: Mapping[str, Any], name: str) -> str:
    low, high = figures[f"{name}_interval"]
    return f"{figures[name]:5.1f} [{low:5.1f}, {high:5.1f}]"
