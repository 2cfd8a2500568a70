"""A picture with what belongs to it: a title, a remark, a legend, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Plot:
    """`legend` pairs a swatch with a name; `header` and `rows` hold what the picture shows, for reading."""

    title: str
    picture: Markup
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    legend: Sequence[tuple[Markup, str]] = ()
    note: str = ""
