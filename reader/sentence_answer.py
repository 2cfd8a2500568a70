"""The sentence or sentences that carry an answer: around a short span, or a whole list.

Pure functions over a text and its sentence spans, which the caller finds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SentenceSpan = tuple[int, int]

MAX_LIST_CHARACTERS = 1200
MIN_EXPLANATION_WORDS = 12
_ITEM = re.compile(r"\s*(?:[-*+•‣–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")


def enclosing_sentences(sentences: Sequence[SentenceSpan], start: int, end: int) -> SentenceSpan:
    """The half-open range of the sentences that [start, end) touches; the span itself where there are none.

    >>> enclosing_sentences([(0, 10), (11, 20)], 12, 14)
    (11, 20)
    """
    touched = [s for s in sentences if s[0] < end and s[1] > start]
    if not touched:
        return start, end
    return min(start, touched[0][0]), max(end, touched[-1][1])


def with_explanation(text: str, sentences: Sequence[SentenceSpan], span: SentenceSpan) -> SentenceSpan:
    """The span, with the sentence after it where the span is too short to explain anything by itself.

    "The reason lies in the mud." announces an explanation; what it announces stands in the next sentence
    of the same paragraph. Short means fewer than MIN_EXPLANATION_WORDS words.

    >>> text = "The cause is plain. The ward was shut."
    >>> with_explanation(text, [(0, 19), (20, 38)], (0, 19))
    (0, 38)
    """
    start, end = span
    following = next((s for s in sentences if s[0] >= end), None)
    short = len(text[start:end].split()) < MIN_EXPLANATION_WORDS
    if following is None or not short or "\n\n" in text[end : following[0]]:
        return span
    return start, following[1]


def enclosing_list(text: str, start: int, end: int) -> SentenceSpan | None:
    """The list that [start, end) belongs to, with the line that announces it, or None.

    A list is a run of lines that begin as items do ("- ", "1. ", "a) "), continuation lines and blank
    lines between items included; the announcing line is one that ends in a colon. Cut at whole items
    so that it stays within MAX_LIST_CHARACTERS.
    """
    lines = _lines(text)
    at = next((i for i, (s, e) in enumerate(lines) if s <= start < max(e, s + 1)), None)
    if at is None:
        return None
    announced = _announces(text, lines[at])
    first = _next_filled(text, lines, at + 1) if announced else _first_item(text, lines, at)
    if first is None or not _is_item(text, lines[first]):
        return None
    before = at if announced else _previous_filled(text, lines, first - 1)
    lead = before if before is not None and _announces(text, lines[before]) else first
    last = _last_item(text, lines, first, lines[lead][0] + MAX_LIST_CHARACTERS)
    if last <= first and lead == first:
        return None
    stop = lines[last][1]
    return lines[lead][0], lines[lead][0] + len(text[lines[lead][0] : stop].rstrip())


def _lines(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for line in text.split("\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def _announces(text: str, line: tuple[int, int]) -> bool:
    return text[slice(*line)].rstrip().endswith(":")


def _is_item(text: str, line: tuple[int, int]) -> bool:
    return _ITEM.match(text[slice(*line)]) is not None


def _is_continuation(text: str, line: tuple[int, int]) -> bool:
    return text[line[0] : line[1]][:1] in (" ", "\t")


def _first_item(text: str, lines: Sequence[tuple[int, int]], at: int) -> int | None:
    """The first item of the run of items that line `at` belongs to."""
    first = None
    i = at
    while i >= 0:
        if _is_item(text, lines[i]):
            first = i
        elif text[slice(*lines[i])].strip() and not _is_continuation(text, lines[i]):
            break
        i -= 1
    return first


def _last_item(text: str, lines: Sequence[tuple[int, int]], first: int, limit: int) -> int:
    """The last line of the run of items that starts at `first`, ending before offset `limit`."""
    last = first
    for i in range(first + 1, len(lines)):
        filled = text[slice(*lines[i])].strip()
        if lines[i][1] > limit or (
            filled and not (_is_item(text, lines[i]) or _is_continuation(text, lines[i]))
        ):
            break
        if filled:
            last = i
    return last


def _next_filled(text: str, lines: Sequence[tuple[int, int]], at: int) -> int | None:
    return next((i for i in range(at, len(lines)) if text[slice(*lines[i])].strip()), None)


def _previous_filled(text: str, lines: Sequence[tuple[int, int]], at: int) -> int | None:
    return next((i for i in range(at, -1, -1) if text[slice(*lines[i])].strip()), None)
