"""Drops running headers and footers from the lines of pages, and puts lines into reading order.

A running line is one of the outermost lines of its page, and all lines outside it are running lines. The same
line occurs on several pages, each at most `MAX_STEP` pages after the last; so the left pages or one chapter
are enough. The first of these lines is kept, so that no word is lost. A bare page number, which grows with
the page, is always dropped. Any other line with a number stays: "Week 7", or a year. But where it would cut a
sentence that goes on from one page to the next, a title with a page number is dropped.

Some programs draw footnotes first or headings last. A page may consist of parts that were drawn one after the
other, each above the last. Then the parts are reversed. Columns keep the order in which they were drawn, and
so do lines closer than `APART`, as in powers, fractions and sums. Only columns of prose that were drawn row
by row are taken apart.

The values of a form are put next to their labels, and references to notes are marked. Rows whose pieces stand
in the same columns are a table; its cells get " | " between them.
"""

from __future__ import annotations

import re
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from typing import TypeVar

from .builder import NOTE, one_line, settle

SENTENCE_ENDS = tuple('.!?:…。！？"”’)]')
MIN_PAGES_ALIKE = 4  # fewer may be slides with the same title
MIN_PAGES_NUMBERED = 3
MAX_STEP = 2  # pages
MAX_EDGE_LINES = 3
MAX_NUMBERS = 5  # of a line
ROMAN = "0 i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
# A number of a page, but no year.
NUMBER = re.compile(
    rf"(?<![0-9])(?!(?:1[89]|20)[0-9]{{2}}\b)[0-9]{{1,4}}(?![^\W_])|(?<![^\W_])(?:{'|'.join(ROMAN)})(?![^\W_])"
)
SLOT = "\n"  # stands for a number in a line
PAGE_WORD = r"\b(?:pages?|p[gp]?|p[áa]g(?:ina)?|seiten?|s|blatt|sid[ae]|strona|of|von|de|di|sur|av|z)\b"
SIGNS = rf"(?:[^\w{SLOT}]|_|{PAGE_WORD})*+"
# Nothing but a page number, page words and signs, and the number of pages: "- 7 -", "Page 7 of 12", "iv".
BARE = re.compile(f"{SIGNS}{SLOT}{SIGNS}[0-9]*+{SIGNS}", re.I)
# That, or a page number and the number of pages beside other words.
PAGED = re.compile(
    rf"\A{BARE.pattern}\Z|\b(?:page|seite|p[áa]gina|side|sida) {SLOT} ?(?:of|von|de|/|av) ?[0-9]", re.I
)
PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
FOOTNOTE = re.compile(r"^([0-9]{1,3})(?![0-9,])[^\w\n]{0,3}\w", re.M)
# No power: 10², m², km². Also a number that is glued to a word.
REFERENCE = re.compile(
    r"(?<!10)(?<!\bm)(?<!\b[kcdmµ]m)(?<![⁰¹²³⁴⁵⁶⁷⁸⁹])[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}(?![⁰¹²³⁴⁵⁶⁷⁸⁹])"
    r"|(?<=[a-z]{3})[0-9]{1,2}(?![\w.,]*\w)"
)
SMALLER = 0.95  # times the commonest size of a page
LARGER = 1.05  # times the commonest size of a page
APART = 24.0  # points: about two lines
MAX_LINES = 2_000  # of a page that are searched for a label
MAX_OFF = 7.0  # points, between a label and the value of a form in a row
MIN_GUTTER = 6.0  # points
MIN_ROWS = 4  # of columns that are taken apart
MIN_FULL = 0.6  # share of the rows with one line in each column
MAX_LEADING = 2.2  # times the size of type, before a row of a single column
MIN_LENGTH = 20  # characters in the mean line of a column of prose
MIN_TABLE_ROWS = 3
MAX_ROW_GAP = 4.0  # times the size of type, between the rows of a table
MIN_COLUMN_GAP = 0.5  # times the size of type, between columns
MAX_CELL = 30  # characters in the mean cell of a column
MAX_LONG_CELL = 60  # the same of one column of three or more
LIST_MARK = re.compile(r"\W{1,2}|[o§]|\(?\w{1,4}[.)]?")
MIN_CONTINUING = 0.3  # share of the lines that do not begin like a sentence or a number

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of a page; places are in points, up and to the right on the page as it is shown.

    A line is equal only to itself, because the same line may stand on several pages.

    text: its characters.
    height: the place of its baseline.
    left, right: the edges of its first and its last character.
    size: the size of its type.
    pieces: its parts with wide gaps between them, or its only part.
    """

    text: str
    height: float
    left: float = 0.0
    right: float = 0.0
    size: float = 0.0
    pieces: tuple[Line, ...] = ()


Place = tuple[int, Line]
"""A line at the edge of a page, and the index of the page at whose end it is, or after whose end."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    lines: its lines.
    remark: the reason why it has no text, if it has none.
    waits: true for a page whose picture may have more text.
    certainty: of an engine that read the lines from its picture, 0 to 1.
    key: the digest of this picture and engine.
    """

    lines: tuple[Line, ...]
    remark: str = "without text (scanned?)"
    waits: bool = False
    certainty: float | None = None
    key: str = ""

    @property
    def text(self) -> str:
        """The lines, without blank ones at either end."""
        return "\n".join(line.text for line in self.lines).strip()

    @property
    def size(self) -> float:
        """The size of type of most characters."""
        sizes = Counter(line.size for line in self.lines for _ in line.text)
        return max(sizes, key=sizes.__getitem__, default=0.0)


def mark_notes(page: Page) -> str:
    """The text of the page with a number that is raised or glued to a word as " [3]", if a note has it."""
    limit = SMALLER * page.size
    small = "\n".join(line.text for line in page.lines if line.size < limit)
    notes = set(FOOTNOTE.findall(small.translate(PLAIN)))

    def mark(match: re.Match[str]) -> str:
        number = match[0].translate(PLAIN)
        return f"{NOTE}[{number}]" if number in notes else match[0]

    return settle(REFERENCE.sub(mark, page.text))


def drop_running_lines(pages: Sequence[Page]) -> list[Page]:
    """The pages without their running lines; a page may lose all its lines."""
    size = Page(tuple(line for page in pages for line in page.lines)).size
    limits = [LARGER * max(size, page.size) for page in pages]
    repeats: list[tuple[str, list[Place]]] = []
    for top in (True, False):
        by_height = [sorted(page.lines, key=lambda line: line.height, reverse=top) for page in pages]
        edges = [lines[:MAX_EDGE_LINES] for lines in by_height]
        at_edge = list(_repeats(edges, limits, top))
        titles = {line for words, places in at_edge if _is_title(words) for _, line in places}
        repeated = {line for _, places in at_edge for _, line in places}
        reached: set[Line] = set()
        for edge in edges:
            for line in edge:
                if line not in repeated:
                    break  # this line and all lines further inside are text
                reached.add(line)
                if line in titles:
                    break
        repeats += [(words, [place for place in places if place[1] in reached]) for words, places in at_edge]
    running = {line for _, places in repeats for _, line in places}
    texts = [[line for line in page.lines if line not in running] for page in pages]
    cut = {i for i, (text, following) in enumerate(pairwise(texts)) if _goes_on(text, following)}
    dropped: set[Line] = set()
    for words, places in repeats:
        lines = [line for _, line in places]
        stay = [line for end, line in places if end not in cut]
        if not _is_title(words):
            stay = [] if BARE.fullmatch(words) else (stay or lines)[:1]
        dropped.update(set(lines).difference(stay))
    return [replace(page, lines=tuple(line for line in page.lines if line not in dropped)) for page in pages]


def _is_title(words: str) -> bool:
    return SLOT in words and not PAGED.search(words)


def _repeats(
    edges: Sequence[Sequence[Line]], limits: Sequence[float], top: bool
) -> Iterator[tuple[str, Sequence[Place]]]:
    """The words of lines that occur on several pages near each other, and these lines."""
    places: dict[tuple[str, int], list[Place]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for line in edge:
            for form in _forms(line, number, limits[number]):
                places[form].append((number - top, line))
    for (words, _), lines in places.items():
        for run in runs(lines, lambda a, b: b[0] - a[0] > MAX_STEP):
            n_pages = len({end for end, _ in run})
            if n_pages >= (MIN_PAGES_NUMBERED if BARE.fullmatch(words) else MIN_PAGES_ALIKE):
                yield words, run


def _forms(line: Line, number: int, limit: float) -> Iterator[tuple[str, int]]:
    """The words of a line, and those with `SLOT` for a number, with this number minus the page's index."""
    words = one_line(line.text)
    if any(map(str.isalpha, words)):
        yield words, 0
    if line.size <= limit:
        for match in islice(NUMBER.finditer(words), MAX_NUMBERS):
            value = ROMAN.index(match[0]) if match[0] in ROMAN else int(match[0])
            yield f"{words[: match.start()]}{SLOT}{words[match.end() :]}", value - number


def _goes_on(text: Sequence[Line], following: Sequence[Line]) -> bool:
    """True when a sentence begins on one page and ends on the next."""
    if not text or not following:
        return False
    start = following[0].text.strip()
    return len(start) >= MIN_LENGTH and start[0].islower() and not text[-1].text.endswith(SENTENCE_ENDS)


def runs(items: Sequence[Item], are_apart: Callable[[Item, Item], bool]) -> Iterator[Sequence[Item]]:
    """The items, split between neighbours that are apart.

    >>> list(runs([1, 2, 5], lambda a, b: b - a > 1))
    [[1, 2], [5]]
    """
    cuts = [i for i, (a, b) in enumerate(pairwise(items), start=1) if are_apart(a, b)]
    yield from split(items, cuts)


def split(items: Sequence[Item], cuts: Sequence[int]) -> list[Sequence[Item]]:
    """The items, split before each of some indexes."""
    return [items[start:end] for start, end in pairwise([0, *cuts, len(items)])]


def place_values(lines: Sequence[Line], values: Sequence[tuple[Line, str]]) -> list[Line]:
    """The lines with the values of a form: beside a label, else above the next line below, after a name."""
    placed = list(lines)
    for value, name in values:
        beside = [line for line in placed[:MAX_LINES] if abs(line.height - value.height) < MAX_OFF]
        if beside:
            nearest = min(beside, key=lambda line: abs(line.right - value.left))
            pieces = sorted([*nearest.pieces, value], key=lambda piece: piece.left)
            placed[placed.index(nearest)] = joined(pieces)
        else:
            named = replace(value, text=f"{value.text} {name}".rstrip())
            insort(placed, joined([named]), key=lambda line: -line.height)
    return placed


def in_columns(lines: Sequence[Line]) -> list[Line]:
    """The lines, with prose in two columns that was drawn row by row put in order, column by column."""
    ordered: list[Line] = []
    region: list[Line] = []
    left = right = 0.0
    for line in lines:
        pieces = line.pieces
        to_left = max([left, *(piece.right for piece in pieces if piece.left < left)])
        to_right = min([right, *(piece.left for piece in pieces if piece.left >= left)])
        fall = region[-1].height - line.height if region else 0.0
        is_next = fall > 0 and (len(pieces) > 1 or fall < MAX_LEADING * line.size)
        if not is_next or to_right - to_left < MIN_GUTTER:
            ordered += _by_column(region, left)
            region = []
            to_left = pieces[0].right
            to_right = pieces[-1].left
        region.append(line)
        left = to_left
        right = to_right
    return ordered + _by_column(region, left)


def _by_column(region: Sequence[Line], gutter: float) -> list[Line]:
    """The lines of some rows; if both columns are prose, first the parts left of the gutter."""
    pieces = [piece for line in region for piece in line.pieces]
    left = [piece for piece in pieces if piece.left < gutter]
    right = [piece for piece in pieces if piece.left >= gutter]
    n_full = sum(len(line.pieces) == 2 for line in region)
    is_regular = n_full >= MIN_FULL * len(region)
    return left + right if is_regular and _is_prose(left) and _is_prose(right) else list(region)


def _is_prose(column: Sequence[Line]) -> bool:
    """True for some rows that are long in the mean, and many go on with the sentence of the row before."""
    n_continuing = sum(line.text[:1].islower() for line in column)
    n_characters = sum(len(line.text) for line in column)
    evidence = min(n_characters / MIN_LENGTH, n_continuing / MIN_CONTINUING)
    return len(column) >= MIN_ROWS and evidence >= len(column)


def with_bars(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines, those of tables with " | " between their cells; an empty cell is empty.

    Text is a table if three rows or more have their pieces in the same columns, most of them in all columns.
    """
    for rows in runs(lines, _ends_table):
        columns = _columns(rows)
        for row in rows:
            cells = dict.fromkeys(columns, "")
            for piece in row.pieces if columns else ():
                column = next(column for column in columns if piece.right <= column[1])
                cells[column] = f"{cells[column]} {piece.text.strip()}".lstrip()
            yield replace(row, text=" | ".join(cells.values())) if columns else row


def table_rows(rows: Sequence[Line]) -> list[Sequence[Line]]:
    """The rows of each table among the rows of a page."""
    return [part for part in runs(rows, _ends_table) if _columns(part)]


def _ends_table(above: Line, below: Line) -> bool:
    """True unless both lines have several pieces, the second one close below the first."""
    is_row = len(above.pieces) > 1 and len(below.pieces) > 1
    return not is_row or not 0 < above.height - below.height < MAX_ROW_GAP * above.size


def _columns(rows: Sequence[Line]) -> list[tuple[float, float]]:
    """The left and right edges of the columns of a table, from left to right; none where it is not sure."""
    if len(rows) < MIN_TABLE_ROWS:
        return []
    pieces = [piece for row in rows for piece in row.pieces]
    columns: list[tuple[float, float]] = []
    for piece in sorted(pieces, key=lambda piece: piece.left):
        if columns and piece.left < columns[-1][1] + MIN_COLUMN_GAP * piece.size:
            columns[-1] = columns[-1][0], max(columns[-1][1], piece.right)
        else:
            columns.append((piece.left, piece.right))
    n_full = sum(len(row.pieces) == len(columns) for row in rows)
    cells = [[piece for piece in pieces if left <= piece.left <= right] for left, right in columns]
    is_sure = n_full >= MIN_FULL * len(rows) and not any(map(_is_prose, cells))
    return columns if len(columns) > 1 and is_sure and _are_cells(cells) else []


def _are_cells(columns: Sequence[Sequence[Line]]) -> bool:
    """True if the texts of columns are short, and two columns are no list with its marks."""
    lengths = sorted(sum(len(cell.text) for cell in column) / len(column) for column in columns)
    is_list = len(columns) == 2 and all(LIST_MARK.fullmatch(cell.text.strip()) for cell in columns[0])
    longest = MAX_CELL if len(columns) == 2 else MAX_LONG_CELL
    return lengths[-2] <= MAX_CELL and lengths[-1] <= longest and not is_list


def joined(pieces: Sequence[Line]) -> Line:
    """The line of some pieces, from left to right."""
    text = " ".join(piece.text for piece in pieces)
    return replace(pieces[0], text=text, right=pieces[-1].right, pieces=tuple(pieces))


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """The lines in the order in which a person reads them."""
    ordered: list[Line] = []
    for part in _parts(lines, -1, 0.0):
        for block in reversed(_parts(part, 1, APART)):
            ordered += block
    return ordered


def _parts(lines: Sequence[Line], sign: int, apart: float) -> list[Sequence[Line]]:
    """The lines, split where all that follow are more than `apart` above all earlier ones, or below (-1)."""
    heights = [sign * line.height for line in lines]
    highest = list(accumulate(heights, max))
    lowest = list(accumulate(reversed(heights), min))[::-1]
    return split(lines, [i for i in range(1, len(lines)) if lowest[i] - highest[i - 1] > apart])
