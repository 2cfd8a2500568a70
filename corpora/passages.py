"""Cuts documents into passages of about `words` words with exact spans.

Every character that is not white space lies in a passage, except the front matter and what is left out. The
time is linear in the length of the text.

Sections come first. A region is one or more neighbouring sections; each region starts a new passage. Small
sections under the same heading are packed into one region, up to the budget of a passage. A section of half a
budget or more starts a region. A heading with hardly any text joins the next section, else the previous one.

`langchain-text-splitters` chooses the cuts inside a region, but its offsets are not used. It splits a copy of
the same length, in which four characters mark good places: between paragraphs, between sentences, at line
ends and between words. A table or a block of code that fits into a passage has no marks inside. The chunks
add up to the copy, so their lengths give the offsets.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import accumulate, dropwhile, groupby, pairwise

from spanwise.types import Bounds, Document, Heading, Label, Passage, blanked, within

from .front_matter import stored_front_matter
from .sentences import cut_before, is_mark, sentence_spans, trimmed_spans

SourceLine = tuple[int, str]  # its offset, and the line with its line end
Opening = re.Match[str]

# Where the splitter may cut, best first. The first two and GLUE do not occur in the copy otherwise: Python
# counts them as white space, so they are replaced with WORD before marks are set.
PARAGRAPH = "\x1d"
SENTENCE = "\x1e"
LINE = "\n"
WORD = " "
GLUE = "\x1f"  # white space at which the splitter must not cut
ANY_SPACE = re.compile(r"\s")
OTHER_SPACE = re.compile(r"[^\S\n]")
MARKED_SPACE = re.compile(r"[^\S\n](?=[^\x00-\u02ff])")  # candidates; `is_mark` decides
WORD_WEIGHT = 8  # the weight of a word of up to eight characters
# Quarters of an encoder's token: four letters are about one token, and so are two digits, one other sign, or
# one letter of a script that English vocabularies spell out. Digits weigh half more because of hexadecimal
# numbers. With these weights 5 of 36,770 passages of prose, code and tables exceed the window of the built-in
# encoder; when only words were counted, 976 of 32,361 did.
LETTER = 1
DIGIT = 3
SIGN = 4
BEYOND_LATIN = re.compile(r"[\u0250-\U0010ffff]")
DIGITS = string.digits.encode()
NOT_SIGNS = (string.ascii_letters + string.digits + string.whitespace).encode()
NOT_LETTERS = (string.punctuation + string.digits + string.whitespace).encode()
SHORT = 5  # a piece below 1/SHORT of the budget may join its neighbour
BARE = 15  # a section with a body below 1/BARE of the budget is bare
SMALL = 5  # an opening below 1/SMALL of the budget joins its first subsection

FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
ASCIIDOC_FENCE = re.compile(r"^((?:-{4,}|\.{4,}|[|,:!]={3,})(?=\s*\Z)|`{3,})")
RST_LITERAL = re.compile(r"(?:.*::|\.\. (?:code|code-block|sourcecode|parsed-literal|math)::.*)\s*\Z")
RST_BORDER = re.compile(r"={2,}(?: +={2,})+\s*\Z")
LATEX_BEGIN = re.compile(
    r"^[ \t]*\\begin\{((?:verbatim|lstlisting|minted|tabular[xy]?|longtable|equation|align|gather)\*?)\}"
)
# Formats with a label per record: a row of a table, an object of JSON, a cell of a notebook.
RECORDS = frozenset(
    {"text/csv", "text/tab-separated-values", "application/json", "application/x-ndjson"}
    | {"application/x-ipynb+json"}
)


def split(document: Document, words: int = 150, overlap: int = 30) -> list[Passage]:
    """The passages of a document, in order, with id 0; starts and ends both increase.

    A passage has up to `words` words, rarely 1.5 times as many. It begins with the last whole sentences of
    the passage before it in its section, up to `overlap` words. `ValueError` unless 0 <= overlap < words.
    """
    if not 0 <= overlap < words:
        raise ValueError(f"overlap {overlap} with {words} words: expected 0 <= overlap < words")
    budget = words * WORD_WEIGHT
    readable = replace(document, text=blanked(document.text, document.left_out))
    blocks = [
        (start, end)
        for start, end in unbreakable_blocks(readable)
        if weight(readable.text[start:end]) <= budget
    ]
    spans: list[Bounds] = []
    for region in regions(readable, budget):
        spans += _region_spans(readable, region, blocks, budget, overlap * WORD_WEIGHT)
    return passages_at(document, spans)


def _region_spans(
    document: Document, region: Region, blocks: Sequence[Bounds], budget: int, reach: int
) -> list[Bounds]:
    """The spans of a region's passages, trimmed and with their overlap."""
    text = document.text
    start = region.start
    end = region.end
    if region.weight <= budget:
        return trimmed_spans(text, [(start, end)])
    part = text[start:end]
    sentences = sentence_spans(part)
    inside = blocks[bisect_left(blocks, (start, start)) : bisect_left(blocks, (end, end))]
    pieces = cut(part, sentences, [(left - start, right - start) for left, right in inside], budget)
    spans = trimmed_spans(text, [(left + start, right + start) for left, right in pieces])
    stops = sorted(heading.start for heading in document.headings if start <= heading.start < end)
    openings = [left + start for left, _ in sentences if not _is_inside(left + start, inside)]
    return list(_overlapping(text, spans, openings, stops, reach))


def _is_inside(position: int, spans: Sequence[Bounds]) -> bool:
    """True when the position lies inside one of the spans, after its first character."""
    index = bisect_left(spans, (position, position)) - 1
    return index >= 0 and spans[index][0] < position < spans[index][1]


def _overlapping(
    text: str, spans: Sequence[Bounds], openings: Sequence[int], stops: Sequence[int], reach: int
) -> Iterator[Bounds]:
    """The spans, each but the first extended back over whole sentences that weigh at most `reach`.

    A span is not extended over a heading, one of `stops`, nor to the start of the span before it.
    """
    yield from spans[:1]
    for (previous, _), (start, end) in pairwise(spans):
        n_stops = bisect_right(stops, start)
        floor = max(previous + 1, stops[n_stops - 1] if n_stops else 0)
        first = start
        for opening in reversed(openings[bisect_left(openings, floor) : bisect_left(openings, start)]):
            if weight(text[opening:start]) > reach:
                break
            first = opening
        yield first, end


def passages_at(document: Document, spans: Sequence[Bounds]) -> list[Passage]:
    """The passages at ascending spans: id 0, the page and line of their start, and the headings above."""
    text = document.text
    ahead = sorted(document.headings, key=lambda heading: heading.start)[::-1]
    path: list[Heading] = []
    passages: list[Passage] = []
    line = 1
    previous = 0
    for start, end in spans:
        line += line_ends(text, previous, start)
        previous = start
        while ahead and ahead[-1].start <= start:
            heading = ahead.pop()
            path = [above for above in path if above.level < heading.level] + [heading]
        passages.append(
            Passage(
                id=0,
                document_id=document.id,
                start=start,
                end=end,
                text=text[start:end],
                page=max(1, bisect_right(document.page_starts, start)) if document.page_starts else None,
                line=line,
                heading=_with_title(document.title, tuple(heading.text for heading in path)),
                label=label_at(document.labels, start),
                left_out=within(document.left_out, start, end),
            )
        )
    return passages


def line_ends(text: str, start: int, end: int) -> int:
    r"""The number of line ends between two offsets: "\n", "\r\n", or "\r" as in old Mac files.

    >>> line_ends("a\nb\r\nc\rd", 0, 8)
    3
    """
    return text.count("\n", start, end) + text.count("\r", start, end) - text.count("\r\n", start, end)


def label_at(labels: Sequence[Label], position: int) -> str:
    """The last label at or before a position, or the empty string."""
    above = bisect_right(labels, position, key=lambda label: label.start)
    return labels[above - 1].text if above else ""


def _with_title(title: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """The path after the document's title, unless the title is empty or begins the path."""
    return path if not title or path[:1] == (title,) else (title, *path)


@dataclass(slots=True)
class Region:
    """A half-open span of one or more sections.

    start, end: the span, in code points of the stored text.
    level: the level of its first heading, 0 without one.
    weight: its weight, see `weight`.
    body: its weight without the headings.
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
    joined: list[Region] = []
    for region in packed:
        if joined and _is_bare(region, budget):
            _join(joined[-1], region)
        else:
            joined.append(region)
    return joined


def sections(document: Document) -> list[Region]:
    """A region for each heading, up to the next heading, and one for the text before the first."""
    text = document.text
    first, _ = stored_front_matter(document)
    headings = {heading.start: heading for heading in document.headings}
    starts = sorted({first, *(start for start in headings if first <= start < len(text))})
    spans: list[Region] = []
    for start, end in pairwise([*starts, len(text)]):
        heading = headings.get(start)
        total = weight(text[start:end])
        own = weight(heading.text) + WORD_WEIGHT if heading else 0  # with the markup of the heading
        spans.append(Region(start, end, heading.level if heading else 0, total, max(0, total - own)))
    return spans


def _packs(region: Region, section: Region, budget: int) -> bool:
    """True when the section joins the region before it, unless its heading has a higher rank."""
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

    Prose counts by words. Long words, code, numbers and other scripts count by an encoder's tokens, so that a
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


def cut(text: str, sentences: Sequence[Bounds], blocks: Sequence[Bounds], budget: int) -> list[Bounds]:
    """Spans that cover the text without gaps, up to `budget` in weight, or half more with a short piece."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=[PARAGRAPH, SENTENCE, LINE, WORD],
        keep_separator="end",
        chunk_size=budget,
        chunk_overlap=0,
        # The splitter may repeat a piece of length 0, which white space would have.
        length_function=lambda piece: weight(piece) or len(piece),
        strip_whitespace=False,
    )
    copy = _marked(text, sentences, blocks)
    chunks = splitter.split_text(copy)
    if "".join(chunks) != copy:
        raise RuntimeError("cannot place the chunks of langchain-text-splitters: they are not the text")
    ends = accumulate(map(len, chunks))
    spans = [span for start, end in pairwise([0, *ends]) for span in _bounded(text, start, end, budget)]
    return _short_joined(text, spans, budget)


def _marked(text: str, sentences: Sequence[Bounds], blocks: Sequence[Bounds]) -> str:
    """A copy of the text of the same length, with marks where a cut is good and GLUE inside blocks."""
    # A space that carries an accent becomes a letter, so that no cut parts the two.
    words = MARKED_SPACE.sub(lambda space: "x" if is_mark(text[space.end()]) else WORD, text)
    copy = StringIO(OTHER_SPACE.sub(WORD, words))
    reached = 0
    for start, end in sentences:
        gap = text[reached:start]
        is_paragraph = len(gap.splitlines()) > 2 or gap.count("\n") > 1
        copy.seek(reached)
        if gap:
            copy.write(WORD * (len(gap) - 1) + (PARAGRAPH if is_paragraph else SENTENCE))
        elif reached:  # no space between two sentences: the mark replaces the stop
            copy.seek(reached - 1)
            copy.write(SENTENCE)
        reached = end
    copy.seek(reached)
    copy.write(WORD * (len(text) - reached))
    for start, end in blocks:
        copy.seek(start)
        block = copy.read(end - start)
        copy.seek(start)
        copy.write(ANY_SPACE.sub(GLUE, block))
    return copy.getvalue()


def _bounded(text: str, start: int, end: int, budget: int) -> Iterator[Bounds]:
    """The span in pieces of the budget's weight, cut between characters; only a huge token needs it."""
    total = weight(text[start:end])
    if total > budget + budget // 2:
        step = max(1, (end - start) * budget // total)
        while end - start > step:
            place = min(cut_before(text, start, start + step), end)
            yield start, place
            start = place
    if start < end:
        yield start, end


def _short_joined(text: str, spans: Sequence[Bounds], budget: int) -> list[Bounds]:
    """Neighbours joined while they fit the budget, or 1.5 budgets when one of them is short."""
    joined: list[Bounds] = []
    last = 0  # the weight of the last joined span
    for start, end in spans:
        size = weight(text[start:end])
        is_short = min(last, size) * SHORT < budget
        if joined and last + size <= (budget + budget // 2 if is_short else budget):
            joined[-1] = (joined[-1][0], end)
            last += size
        else:
            joined.append((start, end))
            last = size
    return joined


def unbreakable_blocks(document: Document) -> list[Bounds]:
    """Spans that a passage should not break, in order, from the start of a line to the end of its last word.

    In formats of records each record is a block. Elsewhere, a block is a table of two or more lines, or code
    as the markup of the format delimits it. Blocks do not overlap.
    """
    if document.media_type in RECORDS:
        return list(_records(document))
    lines: list[SourceLine] = []
    position = 0
    for line in document.text.splitlines(keepends=True):
        lines.append((position, line))
        position += len(line)
    spans = list(_tables(lines))
    if document.media_type in DELIMITERS:
        spans += _delimited(lines, *DELIMITERS[document.media_type])
    if document.media_type == "text/x-rst":
        spans += _rst_literals(lines)
    return list(_apart(sorted(spans, key=lambda span: (span[0], -span[1]))))


def _records(document: Document) -> Iterator[Bounds]:
    starts = [label.start for label in document.labels]
    for start, end in pairwise([*starts, len(document.text)]):
        length = len(document.text[start:end].rstrip())
        if length:
            yield start, start + length


def _tables(lines: Iterable[SourceLine]) -> Iterator[Bounds]:
    for is_row, group in groupby(lines, key=_is_row):
        rows = list(group)
        if is_row and len(rows) > 1:
            yield rows[0][0], _end(rows[-1])


def _is_row(line: SourceLine) -> bool:
    return line[1].lstrip().startswith(("|", "+--", "+==")) or " | " in line[1]


def _end(line: SourceLine) -> int:
    """The end of the last word of a line."""
    start, text = line
    return start + len(text.rstrip())


def _delimited(
    lines: Sequence[SourceLine], opening: re.Pattern[str], closes: Callable[[Opening, str, str], bool]
) -> Iterator[Bounds]:
    """From each line that opens a block to the one that closes it; a block that stays open is left out."""
    opened_at = 0
    mark: Opening | None = None
    for (start, line), (_, following) in pairwise([*lines, (0, "")]):
        if mark is None:
            mark = opening.match(line)
            opened_at = start
        elif closes(mark, line, following):
            yield opened_at, _end((start, line))
            mark = None


def _closes_fence(mark: Opening, line: str, following: str) -> bool:
    fence = mark.re.match(line)
    return fence is not None and fence[1].startswith(mark[1]) and line.strip() == fence[1]


def _closes_environment(mark: Opening, line: str, following: str) -> bool:
    return line.lstrip(" \t").startswith(rf"\end{{{mark[1]}}}")


def _closes_simple_table(mark: Opening, line: str, following: str) -> bool:
    return RST_BORDER.match(line) is not None and not following.strip()


DELIMITERS = {
    "text/markdown": (FENCE, _closes_fence),
    "text/asciidoc": (ASCIIDOC_FENCE, _closes_fence),
    "text/x-rst": (RST_BORDER, _closes_simple_table),
    "text/x-tex": (LATEX_BEGIN, _closes_environment),
}


def _rst_literals(lines: Iterable[SourceLine]) -> Iterator[Bounds]:
    """Indented code of reStructuredText, with the line that introduces it."""
    above: list[SourceLine] = []
    for is_indented, group in groupby(lines, key=lambda line: line[1][0].isspace()):
        run = list(group)
        if is_indented:
            literal = list(dropwhile(lambda line: not RST_LITERAL.match(line[1]), [*above, *run]))
            code = [line for line in literal[1:] if line[1].strip()]
            if code:
                yield literal[0][0], _end(code[-1])
        above = run[-1:]


def _apart(spans: Iterable[Bounds]) -> Iterator[Bounds]:
    """The spans without those that start inside an earlier one."""
    reached = 0
    for start, end in spans:
        if start >= reached:
            yield start, end
            reached = end
