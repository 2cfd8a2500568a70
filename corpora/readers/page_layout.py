"""Drops running headers and footers from the lines of pages, and puts lines into reading order.

A running line is one of the outermost lines of its page, and all lines outside it are running lines. The same
line occurs on several pages, each at most `MAX_STEP` pages after the last; so the left pages or one chapter
are enough. The first of these lines is kept, so that no word is lost. A bare page number, which grows with
the page, is always dropped. Any other line with a number stays: "Week 7", or a year.

Some programs draw footnotes first or headings last. A page may consist of parts that were drawn one after the
other, each above the last and sharing some of its width. Then the parts are reversed, and the same is done
inside each part. Columns keep the order in which they were drawn, and so do lines closer than `APART`, as in
powers, fractions and sums. Only columns of prose that were drawn row by row are taken apart.

The values of a form are put next to their labels, and words broken at line ends are rejoined.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import inf

NO_TEXT = "without text (scanned?)"
MIN_PAGES_ALIKE = 4  # fewer may be slides with the same title
MIN_PAGES_NUMBERED = 3
MAX_STEP = 2  # pages
MAX_EDGE_LINES = 3
ROMAN = "0 i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
# A page number with nothing but page words and signs: "- 7 -", "Page 7 of 12", "iv".
BARE = re.compile(
    r"(?:[\W_]*+(?:page|p[gp]?|p[áa]g(?:ina)?|seite|s|blatt|sid[ae]|strona))?+[\W_]*+"
    rf"([0-9]{{1,4}}|(?-i:{'|'.join(ROMAN)}))(?![^\W_])"
    r"[\W_]*+(?:(?:of|von|de|di|sur|av|z)\b)?+[\W_]*+[0-9]*+[\W_]*+(?:pages?|seiten?)?+[\W_]*+",
    re.I,
)
YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}")
PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
NOTE = re.compile(r"([0-9]{1,3}|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})(?![0-9,⁰¹²³⁴⁵⁶⁷⁸⁹])\W{0,3}\w")
# No power: 10², m², km².
REFERENCE = re.compile(r"(?<!10)(?<!\bm)(?<!\b[kcdmµ]m)(?<![⁰¹²³⁴⁵⁶⁷⁸⁹])[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}(?![⁰¹²³⁴⁵⁶⁷⁸⁹])")
SMALLER = 0.95  # times the commonest size of a page
LARGER = 1.05  # times the commonest size of a page
APART = 24.0  # points: about two lines
MAX_LINES = 2_000  # of a page that is reordered
MAX_DEPTH = 8  # of parts inside parts
MAX_OFF = 7.0  # points, between a label and the value of a form in a row
MIN_GUTTER = 6.0  # points
MIN_ROWS = 4  # of columns that are taken apart
MIN_FULL = 0.6  # share of the rows with one line in each column
MAX_LEADING = 2.2  # times the size of type, before a row of a single column
MIN_LENGTH = 20  # characters in the mean line of a column of prose
WIDE = 0.7  # times the width of the widest line
MIN_WIDE = 0.6  # share of the lines of a column of prose
MIN_CONTINUING = 0.3  # share of the lines that do not begin like a sentence or a number

Form = tuple[str, int | None]
"""A line to compare: its words with "#" for a page number, and this number minus the page's index or None."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page; places are in points, up and to the right on the page as it is shown.

    text: its characters.
    height: the place of its baseline.
    left, right: the edges of its first and its last character.
    size: the size of its type.
    pieces: its parts with wide gaps between them, if there are several.
    """

    text: str
    height: float
    left: float = 0.0
    right: float = 0.0
    size: float = 0.0
    pieces: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    lines: its lines.
    remark: the reason why it has none, or the empty string.
    """

    lines: tuple[Line, ...]
    remark: str = ""

    @property
    def text(self) -> str:
        """The lines, without blank ones at either end."""
        return "\n".join(line.text for line in self.lines).strip()

    @property
    def size(self) -> float:
        """The size of type of most characters."""
        sizes: Counter[float] = Counter()
        for line in self.lines:
            sizes[line.size] += len(line.text)
        return max(sizes, key=sizes.__getitem__, default=0.0)


def mark_notes(page: Page) -> Page:
    """The page with each raised number as " [3]" if a note of this number, set smaller, is below it."""
    notes: dict[str, float] = {}
    for line in page.lines:
        number = NOTE.match(line.text)
        if number and line.size < SMALLER * page.size:
            notes[number[1].translate(PLAIN)] = line.height

    def marked(line: Line) -> Line:
        def mark(match: re.Match[str]) -> str:
            number = match[0].translate(PLAIN)
            if notes.get(number, inf) > line.height:
                return match[0]
            return f" [{number}]" if match.start() else f"[{number}]"

        text = REFERENCE.sub(mark, line.text)
        return replace(line, text=text, pieces=tuple(map(marked, line.pieces)))

    return replace(page, lines=tuple(map(marked, page.lines))) if notes else page


def drop_running_lines(pages: Sequence[Page]) -> list[Page]:
    """The pages without their running lines; a page may lose all its lines."""
    dropped: list[set[int]] = [set() for _ in pages]
    size = Page(tuple(line for page in pages for line in page.lines)).size
    for top in (True, False):
        edges = [_edge(page.lines, top) for page in pages]
        verdicts = _verdicts(pages, edges, size)
        for number, page in enumerate(pages):
            for i in edges[number]:
                drops = [verdicts.get((number, form)) for form in _forms(page, i, number, size)]
                if all(drop is None for drop in drops):
                    break  # this line and all lines further inside are text
                if any(drops):
                    dropped[number].add(i)
    return [
        _without(page, indexes) if indexes else page for page, indexes in zip(pages, dropped, strict=True)
    ]


def _without(page: Page, indexes: set[int]) -> Page:
    """The page without the lines at some indexes."""
    left = Page(tuple(line for i, line in enumerate(page.lines) if i not in indexes), page.remark)
    return left if left.text else Page(left.lines, NO_TEXT)


def _edge(lines: Sequence[Line], top: bool) -> list[int]:
    """The indexes of the outermost lines of a page, the outermost first."""
    places = [i for i, line in enumerate(lines) if line.text.strip()]
    return sorted(places, key=lambda i: -lines[i].height if top else lines[i].height)[:MAX_EDGE_LINES]


def _forms(page: Page, i: int, number: int, size: float) -> Iterator[Form]:
    words = " ".join(page.lines[i].text.split())
    if any(character.isalpha() for character in words):
        yield words, None
    bare = BARE.fullmatch(words)
    if bare and not YEAR.fullmatch(words) and page.lines[i].size <= LARGER * max(size, page.size):
        value = ROMAN.index(bare[1]) if bare[1] in ROMAN else int(bare[1])
        yield f"{words[: bare.start(1)]}#{words[bare.end(1) :]}", value - number


def _verdicts(
    pages: Sequence[Page], edges: Sequence[Sequence[int]], size: float
) -> dict[tuple[int, Form], bool]:
    """True for each page and form of a running line that is dropped there, False where it is kept."""
    places: dict[Form, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        for form in {form for i in edges[number] for form in _forms(page, i, number, size)}:
            places[form].append(number)
    verdicts = {}
    for form, numbers in places.items():
        bare = form[1] is not None
        for run in _runs(numbers):
            if len(run) >= (MIN_PAGES_NUMBERED if bare else MIN_PAGES_ALIKE):
                verdicts.update({(number, form): bare or number != run[0] for number in run})
    return verdicts


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    """The numbers, split where the next is more than `MAX_STEP` away."""
    run: list[int] = []
    for number in numbers:
        if run and number - run[-1] > MAX_STEP:
            yield run
            run = []
        run.append(number)
    yield run


def place_values(lines: Sequence[Line], values: Sequence[tuple[Line, str]]) -> list[Line]:
    """The lines with the values of a form: beside a label, else above the next line below, after a name."""
    placed = list(lines)
    for value, name in values:
        searched = placed[:MAX_LINES]
        beside = [i for i, line in enumerate(searched) if abs(line.height - value.height) < MAX_OFF]
        if beside:
            nearest = min(beside, key=lambda i: abs(placed[i].right - value.left))
            pieces = [*(placed[nearest].pieces or (placed[nearest],)), value]
            placed[nearest] = joined(sorted(pieces, key=lambda piece: piece.left))
        else:
            below = (i for i, line in enumerate(searched) if line.height < value.height)
            placed.insert(next(below, len(placed)), replace(value, text=f"{value.text} {name}".rstrip()))
    return placed


def in_columns(lines: Sequence[Line]) -> list[Line]:
    """The lines, with prose in two columns that was drawn row by row put in order, column by column."""
    ordered: list[Line] = []
    region: list[Line] = []
    left = right = 0.0
    for line in lines:
        pieces = line.pieces or (line,)
        to_left = max([left, *(piece.right for piece in pieces if piece.left < left)])
        to_right = min([right, *(piece.left for piece in pieces if piece.left >= left)])
        fall = region[-1].height - line.height if region else 0.0
        is_next = fall > 0 and (line.pieces or fall < MAX_LEADING * line.size)
        if not is_next or to_right - to_left < MIN_GUTTER:
            ordered += _by_column(region, left)
            region = []
            gaps = [(a.right, b.left) for a, b in pairwise(pieces)]
            to_left, to_right = max(gaps, key=lambda gap: gap[1] - gap[0], default=(0.0, 0.0))
        region.append(line)
        left = to_left
        right = to_right
    return ordered + _by_column(region, left)


def _by_column(region: Sequence[Line], gutter: float) -> list[Line]:
    """The lines of some rows; if both columns are prose, first the parts left of the gutter."""
    pieces = [piece for line in region for piece in line.pieces or (line,)]
    columns = [[piece for piece in pieces if (piece.left < gutter) == is_left] for is_left in (True, False)]
    n_full = sum(len(line.pieces) == 2 for line in region)
    is_regular = n_full >= MIN_FULL * len(region)
    return [*columns[0], *columns[1]] if is_regular and all(map(_is_prose, columns)) else list(region)


def _is_prose(column: Sequence[Line]) -> bool:
    """True for some rows, of which most are long, and many go on with the sentence of the row before."""
    widths = [line.right - line.left for line in column]
    n_wide = sum(width >= WIDE * max(widths) for width in widths)
    n_continuing = sum(line.text[0].isalpha() and not line.text[0].isupper() for line in column)
    n_characters = sum(len(line.text) for line in column)
    evidence = min(n_characters / MIN_LENGTH, n_wide / MIN_WIDE, n_continuing / MIN_CONTINUING)
    return len(column) >= MIN_ROWS and evidence >= len(column)


def joined(pieces: Sequence[Line]) -> Line:
    """The line of some pieces, from left to right."""
    if len(pieces) == 1:
        return pieces[0]
    text = " ".join(piece.text for piece in pieces)
    return replace(pieces[0], text=text, right=pieces[-1].right, pieces=tuple(pieces))


def in_reading_order(lines: Sequence[Line], depth: int = MAX_DEPTH) -> list[Line]:
    """The lines in the order in which a person reads them."""
    if not 2 <= len(lines) <= MAX_LINES or depth == 0:
        return list(lines)
    parts = _split(lines, _cuts([-line.height for line in lines], 0.0))
    if len(parts) == 1:
        cuts = _cuts([line.height for line in lines], APART)
        parts = _split(lines, [cut for cut in cuts if _share_width(lines[:cut], lines[cut:])])[::-1]
    if len(parts) == 1:
        return list(lines)
    return [line for part in parts for line in in_reading_order(part, depth - 1)]


def _cuts(heights: Sequence[float], apart: float) -> list[int]:
    """The indexes from which on all heights are more than `apart` above all earlier ones."""
    highest = list(accumulate(heights, max))
    lowest = list(accumulate(reversed(heights), min))[::-1]
    return [i for i in range(1, len(heights)) if lowest[i] - highest[i - 1] > apart]


def _split(lines: Sequence[Line], cuts: Sequence[int]) -> list[Sequence[Line]]:
    return [lines[start:end] for start, end in pairwise([0, *cuts, len(lines)])]


def _share_width(some: Sequence[Line], others: Sequence[Line]) -> bool:
    left = max(min(line.left for line in some), min(line.left for line in others))
    return left < min(max(line.right for line in some), max(line.right for line in others))
