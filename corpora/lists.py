"""Finds the list at a place of a document: all its items, each with what belongs to it.

The items of a list begin with marks of one kind at one indent: "-", "1.", "a)", "Step 1:". Nested items,
wrapped lines and indented paragraphs belong to the item above them. A numbered list goes on after a short
paragraph if its numbers do. Marks in fenced code are words, and other lines at the edges of pages are passed
over.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from spanwise.types import Document, Span, Step, blanked, within

from .passages import line_ends
from .sentences import block_spans, sentence_spans

REACH = 20_000  # characters on either side of a place
MAX_STEPS = 100
MAX_GAP = 1_000  # characters of the paragraphs between two items
LINE = re.compile(r"^([ \t]*)\S(?:.*\S)?", re.M)
WORD = re.compile(r"\S")
FENCED = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n.*?^[ \t]*\1", re.M | re.S)
# Each kind of mark is a group. The first three hold a number.
MARK = re.compile(
    r"[ \t]*(?![-*•](?:[ \t]+[-*•]){2,}\s*$)(?:(\d{1,3})\.|\(?(\d{1,3})\)|step[ ](\d{1,3})[.:)]"
    r"|([a-z]|[ivx]{2,4})\.|\(?([a-z]|[ivx]{2,4})\)|((?:\d{1,3}\.){2})|((?:\d{1,3}\.){3})|(\#\.)"
    r"|(-)|(\+)|(\*)|(\*\*)|(\*{3,5})|(\.)|(\.\.)|(\.{3,5})|(•)|(▪)|(◦)|(‣)|(·)|(●)|(■)|(○)|([–—])"
    r")[ \t]+(?:\[[ x]\][ \t]|[☐☑☒✓✔][ \t])?(?=\S)",
    re.I | re.M,
)
NUMBERED = 3
LIST_ASKED = re.compile(
    r"\bhow\s+(?:do|does|can|could|should|shall|must|would|to|is|are|am|might|may)\b"
    r"|\A(?:please )?(?:list|name|enumerate)\b|\bwhat (?:are|were|all)\b|\bwhich\b.{1,200}\b(?:are|were)\b"
    r"|\b(?:what|which) (?:[\w-]{1,20} ){0,3}[\w-]{1,20}s (?:are|can|do|does|has|have|may|must|should|will)\b"
    r"|\b(?:steps|instructions|procedure|ingredients|requirements|prerequisites|checklist)\b"
    r"|\bwhat\b.{1,100}\b(?:do|need|bring|pack|prepare|supposed|expected|responsible)\b",
    re.I,
)


def steps_at(question: str, span: Span, document_of: Callable[[str], Document]) -> tuple[Step, ...]:
    """The items, without their marks, of the list that holds a span or follows its sentence.

    The list is below the same heading. Of nested lists it is the outer one. Nothing for a question that asks
    neither how to do something nor for several things.

    >>> bread = Document("a.txt", "text/plain", "", "", "To bake:\\n1. Mix\\n   well.\\n2. Wait.\\n")
    >>> [step.text for step in steps_at("How do I bake?", Span("a.txt", 0, 2, "To"), lambda _: bread)]
    ['Mix\\n   well.', 'Wait.']
    """
    if not LIST_ASKED.search(question):
        return ()
    document = document_of(span.document_id)
    text = document.text
    edges = [0, *(heading.start for heading in document.headings), len(text)]
    place = bisect_right(edges, span.start)
    first = max(edges[place - 1], span.start - REACH)
    text = blanked(text, document.left_out)[: min(edges[place], span.end + REACH)]
    text = FENCED.sub(lambda code: WORD.sub("x", code[0]), text)
    sentences = [-1, *(first + start for start, _ in sentence_spans(text[first:]))]
    for items in _lists(text, first, {*document.page_starts}):
        above = sentences[bisect_left(sentences, items[0][0]) - 1]
        if len(items) > 1 and above < span.end and span.start < items[-1][2]:
            return tuple(_step(document, *item[1:]) for item in items[:MAX_STEPS])
    return ()


def _step(document: Document, start: int, end: int) -> Step:
    text = document.text
    left_out = within(document.left_out, start, end)
    return Step(document.id, start, end, text[start:end], left_out, line_ends(text, 0, start) + 1)


def _lists(text: str, first: int, pages: set[int]) -> Iterator[list[list[int]]]:
    """The lists below `first`: of each item the start, the start of its words, and the end."""
    blocks = {first + start for start, _ in block_spans(text[first:])}
    rows = [(line, MARK.match(text, line.start())) for line in LINE.finditer(text, first + (first > 0))]
    rows = [row for row in rows if row[1] or pages.isdisjoint((row[0].start(), row[0].end() + 1))]
    inside: set[int] = set()
    for place, (line, mark) in enumerate(rows):
        if mark and line.start() not in inside:
            items = _items(rows[place:], blocks)
            inside.update(item[0] for item in items)
            yield items


def _items(rows: list[tuple[re.Match[str], Any]], blocks: set[int]) -> list[list[int]]:
    """The items of the list that begins with the first row; a row is a line and its mark."""
    line, last = rows[0]
    kind = last.lastindex
    indent = len(line[1].expandtabs(4))
    items: list[list[int]] = []
    gap = 0  # the start of the paragraphs below the last item that may not belong to it
    end = 0
    for line, mark in rows:
        start = line.start()
        is_close = start - end < 2
        deeper = len(line[1].expandtabs(4)) - indent
        if mark and mark.lastindex == kind and abs(deeper) < 2:
            if gap:
                if start - gap > MAX_GAP or int(mark[kind]) != int(last[kind]) + 1:
                    break
                items[-1][2] = end
            items.append([start, mark.end(), line.end()])
            last = mark
            gap = 0
        elif gap:
            pass
        elif deeper > 0 or (is_close and deeper > -2 and (mark or start not in blocks)):
            items[-1][2] = line.end()
        elif kind > NUMBERED or is_close or (mark and deeper < 0):
            break
        else:
            gap = start
        end = line.end()
    return items
