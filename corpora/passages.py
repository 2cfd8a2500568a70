"""Documents become passages: about `words` words, from section to section, with exact spans.

Spans are computed here from the text alone; nothing is changed, and every character that is no white space
lies in a passage. The time taken is linear in the length of the text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from spanwise.types import Document, Heading, Label, Passage

from .cuts import WORD_WEIGHT, cut, weight
from .sections import Region, regions
from .sentences import sentence_spans
from .trimming import trimmed
from .whole_blocks import whole_blocks

Span = tuple[int, int]


def split(document: Document, words: int = 150, overlap: int = 30) -> list[Passage]:
    """The passages of a document, in order, with id 0; starts and ends both increase.

    A passage holds up to `words` words, in rare cases half as many more, and in front of them whole
    sentences of the passage before it in the same section, up to `overlap` words. `ValueError` unless
    0 <= overlap < words.
    """
    if not 0 <= overlap < words:
        raise ValueError(f"overlap {overlap} with {words} words: expected 0 <= overlap < words")
    text, budget = document.text, words * WORD_WEIGHT
    whole = [(start, end) for start, end in whole_blocks(document) if weight(text[start:end]) <= budget]
    spans: list[Span] = []
    for region in regions(document, budget):
        spans += _region_spans(document, region, whole, budget, overlap * WORD_WEIGHT)
    return passages_at(document, spans)


def _region_spans(
    document: Document, region: Region, whole: Sequence[Span], budget: int, reach: int
) -> list[Span]:
    """The spans of a region's passages, trimmed and with their overlap."""
    text, start, end = document.text, region.start, region.end
    if region.weight <= budget:
        return _trimmed(text, [(start, end)])
    part = text[start:end]
    sentences = sentence_spans(part)
    inside = whole[bisect_left(whole, (start, start)) : bisect_left(whole, (end, end))]
    pieces = cut(part, sentences, [(left - start, right - start) for left, right in inside], budget)
    spans = _trimmed(text, [(left + start, right + start) for left, right in pieces])
    stops = sorted(heading.start for heading in document.headings if start <= heading.start < end)
    openings = [left + start for left, _ in sentences if not _is_inside(left + start, inside)]
    return list(_overlapping(text, spans, openings, stops, reach))


def _trimmed(text: str, spans: Sequence[Span]) -> list[Span]:
    kept = (trimmed(text, start, end) for start, end in spans)
    return [(start, end) for start, end in kept if start < end]


def _is_inside(position: int, spans: Sequence[Span]) -> bool:
    """True when the position lies behind the first character of one of the spans, in order and apart."""
    index = bisect_left(spans, (position, position)) - 1
    return index >= 0 and spans[index][0] < position < spans[index][1]


def _overlapping(
    text: str, spans: Sequence[Span], openings: Sequence[int], stops: Sequence[int], reach: int
) -> Iterator[Span]:
    """The spans, each but the first reaching back over whole sentences that weigh at most `reach`.

    None reaches back over one of `stops`, the headings, nor to the start of the span before it.
    """
    floor = -1
    for index, (start, end) in enumerate(spans):
        first = start
        if index:
            above = bisect_right(stops, start)
            floor = max(floor, spans[index - 1][0] + 1, stops[above - 1] if above else 0)
            for opening in reversed(openings[bisect_left(openings, floor) : bisect_left(openings, start)]):
                if weight(text[opening:start]) > reach:
                    break
                first = opening
        yield first, end
        floor = first + 1


def passages_at(document: Document, spans: Sequence[Span]) -> list[Passage]:
    """The passages at these spans, which ascend, with id 0: page and line of their start, headings above it.

    A line ends with "\\\\n"; "\\\\r\\\\n" holds one and counts once, and a "\\\\r" alone counts for nothing.
    """
    headings = sorted(document.headings, key=lambda heading: heading.start)
    passages: list[Passage] = []
    path: list[Heading] = []
    line, at, n_passed = 1, 0, 0
    for start, end in spans:
        line += document.text.count("\n", at, start)
        at = start
        while n_passed < len(headings) and headings[n_passed].start <= start:
            path = [above for above in path if above.level < headings[n_passed].level]
            path.append(headings[n_passed])
            n_passed += 1
        passages.append(
            Passage(
                id=0,
                document_id=document.id,
                start=start,
                end=end,
                text=document.text[start:end],
                page=max(1, bisect_right(document.page_starts, start)) if document.page_starts else None,
                line=line,
                heading=_with_title(document.title, [heading.text for heading in path]),
                label=label_at(document.labels, start),
            )
        )
    return passages


def label_at(labels: Sequence[Label], position: int) -> str:
    """The last label at or before a position, the empty string when there is none."""
    above = bisect_right(labels, position, key=lambda label: label.start)
    return labels[above - 1].text if above else ""


def _with_title(title: str, path: list[str]) -> tuple[str, ...]:
    """The path with the document's title in front, unless it begins with it or there is none."""
    return tuple(path) if not title or path[:1] == [title] else (title, *path)
