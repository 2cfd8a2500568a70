"""The days and months that a text names."""

from __future__ import annotations

import re
from dataclasses import dataclass

MONTHS = "january february march april may june july august september october november december".split()
_NAMED = "|".join([*MONTHS, "jan", "feb", "apr", "aug", "sept", "sep", "oct", "nov", "dec"])
_DAY = re.compile(
    rf"\b(?:(?P<before>[0-3]?\d)(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_NAMED})\b\.?"
    r"(?: (?:the )?(?P<behind>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:])(?!,\d))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Day:
    """A month, 1 to 12, with its day or None, as text[start:end] names it."""

    text: str
    month: int
    day: int | None
    start: int
    end: int


def days(text: str) -> list[Day]:
    """The months that a text names, with their days, by place. "may" and "march" are verbs when small.

    >>> [(day.month, day.day) for day in days("On 3 May, then June 7th, 2010, and in Sept. 1920")]
    [(5, 3), (6, 7), (9, None)]
    """
    found = []
    for match in _DAY.finditer(text):
        if match["month"] in ("may", "march") and not (match["before"] or match["behind"]):
            continue
        month = next(
            n for n, name in enumerate(MONTHS, start=1) if name.startswith(match["month"].lower()[:3])
        )
        day = match["before"] or match["behind"]
        found.append(Day(match[0].strip(), month, int(day) if day else None, match.start(), match.end()))
    return found


def is_named(day: Day, among: list[Day]) -> bool:
    """Whether the month is among others, and with its day where it has one."""
    return any(day.month == other.month and day.day in (None, other.day) for other in among)
