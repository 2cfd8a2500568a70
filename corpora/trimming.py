"""Spans without the white space around them, and cuts that leave a character and its marks together."""

from __future__ import annotations

import unicodedata

ZERO_WIDTH_JOINER = "\u200d"
MOST_MARKS = 30  # on one character: UAX #15, stream-safe text


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends, `(start, start)` when there is nothing else.

    A space that carries a combining mark is no mere white space and stays.

    >>> trimmed("  a b ", 0, 6)
    (2, 5)
    """
    piece = text[start:end]
    words = piece.lstrip()
    if not words:
        return start, start
    first = start + len(piece) - len(words)
    if first > start and carries_mark(text, first - 1):
        first -= 1
    return first, first + len(text[first:end].rstrip())


def carries_mark(text: str, position: int) -> bool:
    """True when a combining mark follows the space at `position`; a line end carries none."""
    return (
        unicodedata.category(text[position]) == "Zs"
        and position + 1 < len(text)
        and is_mark(text[position + 1])
    )


def is_mark(character: str) -> bool:
    """True for characters that are drawn onto the one before: accents, vowel signs, variation selectors."""
    return character >= "\u0300" and unicodedata.category(character)[0] == "M"


def cut_before(text: str, start: int, cut: int) -> int:
    """The last place in `(start, cut]` that parts no character from its marks.

    Without one, the first place behind `cut`; at the latest `MOST_MARKS` behind it, for a row of marks that
    no real text has.

    >>> cut_before("abe\\u0301d", 0, 3)
    2
    """
    place = cut
    while place > start and _is_inside(text, place):
        place -= 1
    if place > start:
        return place
    place = cut
    while place < cut + MOST_MARKS and _is_inside(text, place):
        place += 1
    return place


def _is_inside(text: str, place: int) -> bool:
    """True when a cut here would part a character from its marks."""
    return 0 < place < len(text) and _belong_together(text[place - 1], text[place])


def _belong_together(left: str, right: str) -> bool:
    return is_mark(right) or ZERO_WIDTH_JOINER in (left, right)
