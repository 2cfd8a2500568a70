"""Documents become passages of about `words` words, from section to section, with exact spans.

Spans are computed from the text alone; nothing is changed, every character below the front matter that is
not white space lies in a passage, and the time is linear in the length of the text.

A region is one or more neighbouring sections that may share passages; a passage starts where a region starts.
Small sections below the same heading are packed into one region up to the budget of a passage; a section of
half a budget or more starts its own. A heading with hardly any text joins what follows, else what precedes.

Inside a region `langchain-text-splitters` chooses the cuts; its offsets are not used. It gets a copy of the
text of the same length, in which four characters mark welcome cuts: between paragraphs, between sentences, at
line ends, between words. Unbreakable blocks (a table, a fence of code) have no mark inside. The chunks put
together are the copy again, so that their lengths give the offsets.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from spanwise.types import Document, Heading, Label, Passage

from .front_matter import body_start
from .sentences import cut_before, is_mark, sentence_spans, trimmed
from .unbreakable import unbreakable_blocks

Span = tuple[int, int]
# Python's str.split() takes all of these for white space; the text's own ones become WORD first.
PARAGRAPH, SENTENCE, LINE, WORD, GLUE = "\x1d", "\x1e", "\n", " ", "\x1f"
OTHER_SPACE = re.compile(r"[^\S\n]")
ANY_SPACE = re.compile(r"\s")
MARKED_SPACE = re.compile(r"[^\S\n](?=[^\x00-\u02ff])")
WORD_WEIGHT = 8  # the weight of a word of up to eight characters
# A quarter of what a character costs in an encoder's tokens: four letters are about one token, and so are two
# digits, one other sign, or one letter of a script that vocabularies of English spell out. Digits weigh half
# more, for hexadecimal numbers. Of 32,361 passages of prose, code and tables 976 were longer than the window
# of the built-in encoder when words alone were counted, and 5 of 36,770 since.
LETTER, DIGIT, SIGN = 1, 3, 4
BEYOND_LATIN = re.compile(r"[\u0250-\U0010ffff]")
DIGITS = string.digits.encode()
NOT_SIGNS = (string.ascii_letters + string.digits + string.whitespace).encode()
NOT_LETTERS = (string.punctuation + string.digits + string.whitespace).encode()
SHORT = 5  # a piece below 1/SHORT of the budget is too small to stand alone
BARE = 15  # a section with a body below 1/BARE of the budget is bare
SMALL = 5  # an opening below 1/SMALL of the budget joins its first subsection


def split(document: Document, words: int = 150, overlap: int = 30) -> list[Passage]:
    """The passages of a document, in order, with id 0; starts and ends both increase.

    A passage holds up to `words` words, rarely 1.5 times as many, after whole sentences of the passage before
    it in the same section, up to `overlap` words. `ValueError` unless 0 <= overlap < words.
    """
    if not 0 <= overlap < words:
        raise ValueError(f"overlap {overlap} with {words} words: expected 0 <= overlap < words")
    text, budget = document.text, words * WORD_WEIGHT
    blocks = [
        (start, end) for start, end in unbreakable_blocks(document) if weight(text[start:end]) <= budget
    ]
    spans: list[Span] = []
    for region in regions(document, budget):
        spans += _region_spans(document, region, blocks, budget, overlap * WORD_WEIGHT)
    return passages_at(document, spans)


def _region_spans(
    document: Document, region: Region, blocks: Sequence[Span], budget: int, reach: int
) -> list[Span]:
    """The spans of a region's passages, trimmed and with their overlap."""
    text, start, end = document.text, region.start, region.end
    if region.weight <= budget:
        return _trimmed(text, [(start, end)])
    part = text[start:end]
    sentences = sentence_spans(part)
    inside = blocks[bisect_left(blocks, (start, start)) : bisect_left(blocks, (end, end))]
    pieces = cut(part, sentences, [(left - start, right - start) for left, right in inside], budget)
    spans = _trimmed(text, [(left + start, right + start) for left, right in pieces])
    stops = sorted(heading.start for heading in document.headings if start <= heading.start < end)
    openings = [left + start for left, _ in sentences if not _is_inside(left + start, inside)]
    return list(_overlapping(text, spans, openings, stops, reach))


def _trimmed(text: str, spans: Sequence[Span]) -> list[Span]:
    kept = (trimmed(text, start, end) for start, end in spans)
    return [(start, end) for start, end in kept if start < end]


def _is_inside(position: int, spans: Sequence[Span]) -> bool:
    """True when the position lies inside one of the spans, after its first character."""
    index = bisect_left(spans, (position, position)) - 1
    return index >= 0 and spans[index][0] < position < spans[index][1]


def _overlapping(
    text: str, spans: Sequence[Span], openings: Sequence[int], stops: Sequence[int], reach: int
) -> Iterator[Span]:
    """The spans, all but the first extended back over whole sentences that weigh at most `reach`.

    None is extended over one of `stops`, the headings, or to the start of the span before it.
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
    """The passages at ascending spans, with id 0, the page and line of their start, and the headings above.

    Only "\\n" ends a line.
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
                heading=_with_title(document.title, tuple(heading.text for heading in path)),
                label=label_at(document.labels, start),
            )
        )
    return passages


def label_at(labels: Sequence[Label], position: int) -> str:
    """The last label at or before a position, the empty string when there is none."""
    above = bisect_right(labels, position, key=lambda label: label.start)
    return labels[above - 1].text if above else ""


def _with_title(title: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """The path after the document's title, unless the title is empty or begins the path."""
    return path if not title or path[:1] == (title,) else (title, *path)


@dataclass(slots=True)
class Region:
    """A half-open span of one or more sections; `level` of its first heading, 0 without one.

    `body` is the weight without the headings.
    """

    start: int
    end: int
    level: int
    weight: int
    body: int


def regions(document: Document, budget: int) -> list[Region]:
    """Regions in order that cover the text; `budget` is the weight of a passage."""
    packed: list[Region] = []
    for section in sections(document):
        if packed and _packs(packed[-1], section, budget):
            _join(packed[-1], section)
        else:
            packed.append(section)
    kept: list[Region] = []
    for region in packed:
        if kept and _is_bare(region, budget):
            _join(kept[-1], region)
        else:
            kept.append(region)
    return kept


def sections(document: Document) -> list[Region]:
    """A region for each heading, up to the next heading, and one for the text before the first."""
    text, first = document.text, body_start(document)
    headings = {heading.start: heading for heading in document.headings}
    starts = sorted({first, *(start for start in headings if first <= start < len(text))})
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        heading = headings.get(start)
        total = weight(text[start:end])
        own = weight(heading.text) + WORD_WEIGHT if heading else 0  # and the mark before it
        found.append(Region(start, end, heading.level if heading else 0, total, max(0, total - own)))
    return found


def _packs(region: Region, section: Region, budget: int) -> bool:
    """True when the section joins the region before it, which has no lower heading level."""
    if section.level < region.level:
        return False
    if _is_bare(region, budget):
        return True
    if _is_bare(section, budget):
        return False
    if 2 * section.weight < budget and region.weight + section.weight <= budget:
        return True
    return region.weight * SMALL < budget and section.level > region.level


def _is_bare(region: Region, budget: int) -> bool:
    return region.body * BARE < budget


def _join(region: Region, section: Region) -> None:
    region.end = section.end
    region.weight += section.weight
    region.body += section.body


def weight(text: str) -> int:
    """The length of a text in eighths of a word, or in quarters of a token if that is more.

    Prose counts by words; long words, code, figures and other scripts by the tokens of an encoder, so that a
    passage within the budget fits the encoder's window.

    >>> weight("three short words") / WORD_WEIGHT
    3.0
    """
    return max(WORD_WEIGHT * len(text.split()), _token_weight(text))


def _token_weight(text: str) -> int:
    ascii_only = text.encode("ascii", "ignore")
    n_other = 0 if len(ascii_only) == len(text) else len(BEYOND_LATIN.findall(text))
    n_latin = len(text) - len(ascii_only) - n_other
    n_digits = len(ascii_only) - len(ascii_only.translate(None, DIGITS))
    n_letters = n_latin + len(ascii_only.translate(None, NOT_LETTERS))
    n_signs = n_other + len(ascii_only.translate(None, NOT_SIGNS))
    return LETTER * n_letters + DIGIT * n_digits + SIGN * n_signs


def cut(text: str, sentences: Sequence[Span], blocks: Sequence[Span], budget: int) -> list[Span]:
    """Spans that cover the text without gaps, up to `budget` in weight, or half more with a short piece."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=[PARAGRAPH, SENTENCE, LINE, WORD],
        keep_separator="end",
        chunk_size=budget,
        chunk_overlap=0,
        # A piece without length, as white space would be, could get into two chunks.
        length_function=lambda piece: weight(piece) or len(piece),
        strip_whitespace=False,
    )
    copy = mark_cuts(text, sentences, blocks)
    chunks = splitter.split_text(copy)
    if "".join(chunks) != copy:
        raise RuntimeError("langchain-text-splitters lost or changed characters: its chunks cannot be placed")
    ends = list(accumulate(map(len, chunks)))
    spans: list[Span] = []
    for start, end in pairwise([0, *ends]):
        spans += _bounded(text, start, end, budget)
    return merge_short(spans, [weight(text[start:end]) for start, end in spans], budget)


def mark_cuts(text: str, sentences: Sequence[Span], blocks: Sequence[Span]) -> str:
    """A copy of the text of the same length, with marks where a cut is welcome."""
    pieces: list[str] = []
    at = 0
    for start, end in sentences:
        gap = text[at:start]
        if gap:
            ending = PARAGRAPH if len(gap.splitlines()) > 2 or gap.count("\n") > 1 else SENTENCE
            pieces.append(WORD * (len(gap) - 1) + ending)
        elif pieces:  # no space between two sentences: the stop itself is the mark
            pieces[-1] = pieces[-1][:-1] + SENTENCE
        pieces.append(_plain(text[start:end]))
        at = end
    pieces.append(WORD * (len(text) - at))
    return _protect("".join(pieces), blocks)


def _plain(sentence: str) -> str:
    """A sentence with its white space replaced by LINE and WORD; a space with an accent becomes a letter."""
    if not sentence.isascii():
        sentence = MARKED_SPACE.sub(lambda space: "x" if is_mark(sentence[space.end()]) else WORD, sentence)
    return OTHER_SPACE.sub(WORD, sentence)


def _protect(copy: str, blocks: Sequence[Span]) -> str:
    """The copy without marks inside unbreakable blocks."""
    pieces: list[str] = []
    at = 0
    for start, end in blocks:
        pieces += [copy[at:start], ANY_SPACE.sub(GLUE, copy[start:end])]
        at = end
    return "".join([*pieces, copy[at:]])


def _bounded(text: str, start: int, end: int, budget: int) -> list[Span]:
    """The span in pieces of the budget's weight, cut between characters; only a huge token needs it."""
    total = weight(text[start:end])
    if total <= budget + budget // 2:
        return [(start, end)]
    step = max(1, (end - start) * budget // total)
    spans = []
    while end - start > step:
        place = min(cut_before(text, start, start + step), end)
        spans.append((start, place))
        start = place
    return [*spans, (start, end)] if start < end else spans


def merge_short(spans: Sequence[Span], weights: Sequence[int], budget: int) -> list[Span]:
    """Neighbours joined while they fit the budget, or 1.5 budgets when one of them is short."""
    joined: list[tuple[Span, int]] = []
    for span, size in zip(spans, weights, strict=True):
        if joined:
            (start, _), last = joined[-1]
            is_short = min(last, size) * SHORT < budget
            if last + size <= (budget + budget // 2 if is_short else budget):
                joined[-1] = (start, span[1]), last + size
                continue
        joined.append((span, size))
    return [span for span, _ in joined]
