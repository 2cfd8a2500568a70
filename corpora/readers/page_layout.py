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
from itertools import accumulate, groupby, pairwise
from math import inf

NO_TEXT = "without text (scanned?)"
MIN_PAGES_ALIKE = 4  # fewer may be slides with the same title
MIN_PAGES_NUMBERED = 3
MAX_STEP = 2  # pages
MAX_EDGE_LINES = 3
# A page number with nothing but page words and signs: "- 7 -", "Page 7 of 12", "iv".
BARE = re.compile(
    r"(?:[\W_]*+(?:page|p[gp]?|p[áa]g(?:ina)?|seite|s|blatt|sid[ae]|strona))?+[\W_]*+"
    r"([0-9]{1,4}|[ivxl]{1,8})(?![^\W_])"
    r"[\W_]*+(?:(?:of|von|de|di|sur|av|z)\b)?+[\W_]*+[0-9]*+[\W_]*+(?:pages?|seiten?)?+[\W_]*+",
    re.I,
)
YEAR = re.compile(r"(?:1[89]|20)[0-9]{2}")
ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
NOTE = re.compile(r"([0-9]{1,3}|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})(?![0-9,⁰¹²³⁴⁵⁶⁷⁸⁹])\W{0,3}\w")
# No power: 10², m², km².
REFERENCE = re.compile(r"(?<!10)(?<!\bm)(?<!\b[kcdmµ]m)(?<![⁰¹²³⁴⁵⁶⁷⁸⁹])[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}(?![⁰¹²³⁴⁵⁶⁷⁸⁹])")
SMALLER = 0.95  # times the commonest size of a page
LARGER = 1.05  # times the commonest size of a page
APART = 24.0  # points: about two lines
MAX_LINES = 2_000  # of a page that is reordered
MAX_DEPTH = 8  # of parts inside parts
MIN_GUTTER = 6.0  # points
MAX_GUTTERS = 3
MIN_ROWS = 4  # of columns that are taken apart
MIN_FULL = 0.6  # share of the rows that have a line in each column
MAX_LEADING = 2.2  # times the size of type, before a row of a single column
MIN_LENGTH = 20  # characters in the mean line of a column of prose
WIDE = 0.7  # times the width of the widest line
MIN_WIDE = 0.6  # share of the lines of a column of prose
MIN_CONTINUING = 0.3  # share of the lines that do not begin like a sentence or a number

Gap = tuple[float, float]
"""The edges of an empty strip of a page."""

Form = tuple[str, int | None]
"""A line to compare: its words with "#" for a page number, and that number minus the page's index, or None."""


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
        yield f"{words[: bare.start(1)]}#{words[bare.end(1) :]}", _value(bare[1]) - number


def _value(number: str) -> int:
    """The value of a number in digits or in small Roman numerals; 0 for capitals, which may count parts."""
    if number.isdecimal():
        return int(number)
    values = [ROMAN.get(letter, 0) for letter in number]
    return sum(-a if a < b else a for a, b in pairwise([*values, 0]))


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


def in_columns(lines: Sequence[Line]) -> list[Line]:
    """The lines, with prose in columns that was drawn row by row put in order, column by column."""
    if len(lines) > MAX_LINES:
        return list(lines)
    ordered: list[Line] = []
    region: list[list[Line]] = []
    gutters: list[Gap] = []
    for row in [*_rows(lines), []]:
        narrowed = _narrowed(gutters, region[-1], row) if region and row else []
        if not narrowed:
            ordered += _by_column(region, gutters)
            region = []
            narrowed = _gaps(row)
        region.append(row)
        gutters = narrowed
    return ordered


def _rows(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines, with those in a row that are drawn side by side, from left to right."""
    rows: list[list[Line]] = []
    for line in lines:
        last = rows[-1][-1] if rows else line
        is_beside = line.left - last.right >= MIN_GUTTER and abs(line.height - last.height) < 0.8 * last.size
        if rows and is_beside:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _pieces(row: Sequence[Line]) -> list[Line]:
    return [piece for line in row for piece in line.pieces or (line,)]


def _gaps(row: Sequence[Line]) -> list[Gap]:
    gaps = [(a.right, b.left) for a, b in pairwise(_pieces(row)) if b.left - a.right >= MIN_GUTTER]
    return gaps if len(gaps) <= MAX_GUTTERS else []


def _narrowed(gutters: Sequence[Gap], above: Sequence[Line], row: Sequence[Line]) -> list[Gap]:
    """The parts of some gutters that stay empty in the next row; none if the row does not go on."""
    fall = above[0].height - row[0].height
    gaps = _gaps(row)
    is_single = len(_pieces(row)) == 1
    if fall <= 0 or is_single and fall > MAX_LEADING * row[0].size or not gaps and not is_single:
        return []
    empty = [(-inf, row[0].left), *gaps, (row[-1].right, inf)]
    narrowed = [(max(a, c), min(b, d)) for a, b in gutters for c, d in empty]
    return [(a, b) for a, b in narrowed if b - a >= MIN_GUTTER][:MAX_GUTTERS]


def _by_column(region: Sequence[list[Line]], gutters: Sequence[Gap]) -> list[Line]:
    """The lines of some rows by column if all columns are prose, else unchanged."""
    columns: list[list[Line]] = [[] for _ in range(len(gutters) + 1)]
    for row in region:
        for column, pieces in groupby(_pieces(row), key=lambda p: sum(a < p.left for a, _ in gutters)):
            columns[column].append(joined(list(pieces)))
    widths = [len(_pieces(row)) for row in region]
    n_full = widths.count(len(columns))
    is_regular = len(columns) > 1 and n_full >= MIN_ROWS and n_full >= MIN_FULL * len(region)
    chosen = columns if is_regular and all(map(_is_prose, columns)) else region
    return [line for lines in chosen for line in lines]


def _is_prose(column: Sequence[Line]) -> bool:
    """True when most lines are long, and many go on with the sentence of the line before."""
    widest = max((line.right - line.left for line in column), default=0.0)
    n_wide = sum(line.right - line.left >= WIDE * widest for line in column)
    n_continuing = sum(line.text[:1].isalpha() and not line.text[0].isupper() for line in column[1:])
    return (
        sum(len(line.text) for line in column) >= MIN_LENGTH * len(column)
        and len(column) >= MIN_ROWS
        and n_wide >= MIN_WIDE * len(column)
        and n_continuing >= MIN_CONTINUING * len(column)
    )


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
