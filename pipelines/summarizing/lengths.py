"""How long a summary is to be, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Length:
    """At most so many sentences and words; how a generator is asked for them, and tokens it may take."""

    sentences: int
    words: int
    asked_for: str
    tokens: int


LENGTHS: Mapping[str, Length] = {
    "short": Length(2, 60, "one or two sentences", 120),
    "medium": Length(5, 150, "three to five sentences", 300),
    "long": Length(10, 350, "eight to ten sentences", 700),
}


def length_of(name: str) -> Length:
    """The length of that name; ValueError for another one."""
    if name not in LENGTHS:
        raise ValueError(f"length must be one of {', '.join(LENGTHS)}, not {name!r}")
    return LENGTHS[name]
