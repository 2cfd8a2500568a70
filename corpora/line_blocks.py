"""Blocks of lines that no sentence crosses: paragraphs, list items, headings, table rows, lines of code.

A line end alone is no boundary, because most text is wrapped; it becomes one where Markdown or the shape
of the lines says so.
"""

from __future__ import annotations

import re
from itertools import groupby

FENCE = re.compile(r"[ \t]*(?:```|~~~)")
# A list item, heading, quotation, table row or definition starts a block.
OPENS = re.compile(
    r"[ \t]*(?:[-+*•▪◦‣·●■][ \t]+\S|\(?(?:[0-9]{1,3}|[a-zA-Z])\)[ \t]|[0-9]{1,3}\.[ \t]|#{1,6}[ \t]|\|"
    r"|[A-Z][\w /-]{0,30}:\s)"
)
# Headings, rows and rules are complete: the next line starts another block.
COMPLETE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\||={3,}\s*\Z|-{3,}\s*\Z|\*{3,}\s*\Z)")
BLANK = re.compile(r"[\s>]*")  # also the empty line of a quotation
ROW = " | "
SHORT = 0.6  # of the widest line of its paragraph
# What a line does not end with when it is the last of its block.
LEADS_ON = re.compile(
    r"(?:[,;:(\[–—-]|\b(?:the|a|an|of|and|or|by|to|in|on|at|for|with|from|as|is|are|was|that))\Z", re.I
)


def block_spans(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the blocks, in order and without a gap; a blank line belongs to the block before it.

    >>> block_spans("wrapped\\nline\\n- item\\n")
    [(0, 13), (13, 20)]
    """
    lines = text.splitlines(keepends=True)
    starts = [0]
    position = 0
    previous = ""
    in_fence = False
    for line, width in zip(lines, _widths(lines), strict=True):
        is_fence = FENCE.match(line) is not None
        follows = in_fence or is_fence or BLANK.fullmatch(previous) or _parts(previous, line, width)
        if position and not line.isspace() and follows:
            starts.append(position)
        in_fence ^= is_fence
        previous = line
        position += len(line)
    return [(start, end) for start, end in zip(starts, [*starts[1:], position], strict=True) if start < end]


def _widths(lines: list[str]) -> list[int]:
    """For each line the length of the longest line of its paragraph, 0 for blank lines."""
    widths: list[int] = []
    for blank, paragraph in groupby(lines, key=str.isspace):
        lengths = [len(line.rstrip()) for line in paragraph]
        widths += [0 if blank else max(lengths)] * len(lengths)
    return widths


def _parts(previous: str, line: str, width: int) -> bool:
    """True when the line end between two lines of a paragraph of this width parts two blocks."""
    if OPENS.match(line) or COMPLETE.match(previous) or FENCE.match(previous):
        return True
    if ROW in line or ROW in previous:
        return True
    previous = previous.rstrip()
    first = line.lstrip()[:1]
    if len(previous) >= SHORT * width or not (first.isupper() or first.isdigit()):
        return False
    return LEADS_ON.search(previous[-12:]) is None
