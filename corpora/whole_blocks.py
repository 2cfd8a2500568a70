"""The pieces of a document that a passage should hold whole: fences of code, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from spanwise.types import Document

FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
Line = tuple[int, str]  # its offset, and the line with its end
Span = tuple[int, int]


def whole_blocks(document: Document) -> list[Span]:
    """Half-open spans, in order and apart, each from the start of a line to the last word of one.

    Fences count in Markdown only. A table is two or more lines in a row that hold cells.
    """
    lines: list[Line] = []
    position = 0
    for line in document.text.splitlines(keepends=True):
        lines.append((position, line))
        position += len(line)
    spans = list(_tables(lines))
    if document.media_type == "text/markdown":
        spans = sorted([*spans, *_fences(lines)])
    return list(_apart(spans))


def _fences(lines: Iterable[Line]) -> Iterator[Span]:
    """Fenced code from fence to fence; one that is never closed is left out."""
    opened_at, opening = 0, ""
    for start, line in lines:
        fence = FENCE.match(line)
        if fence is None:
            continue
        if not opening:
            opened_at, opening = start, fence[1]
        elif fence[1].startswith(opening) and line.strip() == fence[1]:
            yield opened_at, start + len(line.rstrip())
            opening = ""


def _tables(lines: Iterable[Line]) -> Iterator[Span]:
    for is_row, group in groupby(lines, key=_is_row):
        rows = list(group)
        if is_row and len(rows) > 1:
            start, last = rows[-1]
            yield rows[0][0], start + len(last.rstrip())


def _is_row(line: Line) -> bool:
    return line[1].lstrip().startswith("|") or " | " in line[1]


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without those that begin inside the one before."""
    reached = 0
    for start, end in spans:
        if start >= reached:
            yield start, end
            reached = end
