"""A candidate and its evidence as lines of a terminal."""

from __future__ import annotations

from ..explain import ScoreBreakdown
from .search import place
from .terminal import visible


def evidence_lines(weighed: ScoreBreakdown) -> tuple[str, ...]:
    """The words with their place, then a line a feature: value, weight, contribution; then the sum."""
    words = " ".join(weighed.span.text.split())
    width = max(len(one.feature) for one in weighed.contributions)
    sure = "" if weighed.confidence is None else f", confidence {weighed.confidence:.0%}"
    lines = [f"  {words}", f"    {place(weighed.passage)}"]
    lines += [
        f"    {one.feature:{width}}  {one.value:8.3f} x {one.weight:7.3f} = {one.contribution:8.3f}"
        for one in weighed.contributions
    ]
    lines.append(f"    {'evidence':{width}}  {weighed.evidence:28.3f}{sure}")
    return (visible("\n".join(lines)),)
