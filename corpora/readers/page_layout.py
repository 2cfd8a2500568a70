"""The lines of pages: running headers and footers dropped, and lines put in reading order.

A line runs when it is one of the outermost lines of its page, no line outside of it does not run, and the
same line stands there on several pages, each at most `MAX_STEP` pages after the one before: left pages or one
chapter suffice. Lines are the same when they have the same characters, or differ only in a number that grows
with the page. The first of a run stays, so that no word is lost; a bare page number is dropped everywhere.

Some programs draw footnotes first or headings last. Where a page falls into parts that were drawn one after
the other, each wholly above the one before and sharing some of its width, their order is reversed, and so on
inside the parts. Columns stay in the order drawn, and so do lines closer than `APART`: powers, fractions,
sums.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

NO_TEXT = "without text (scanned?)"
MIN_PAGES_ALIKE = 4  # fewer may be slides that continue under the same title
MIN_PAGES_NUMBERED = 3
MAX_STEP = 2  # pages
MAX_EDGE_LINES = 3
NUMBER = re.compile(r"(?<![\w.,])[0-9]{1,4}(?![\w,]|\.[0-9])")
# "#" replaces the page's number: "- # -", "Page # of 12", "# | 12".
BARE = re.compile(
    r"(?:[\W_]*+(?:p(?:age|g|[áa]gina)?|seite))?+(?:[^\w#]|_)*+#"
    r"[\W_]*+(?:of|von|de|di|sur)?+[\W_]*+[0-9]*+[\W_]*+",
    re.I,
)
APART = 24.0  # points: about two lines
MAX_LINES = 2_000  # a page with more keeps its order
MAX_DEPTH = 8

Form = tuple[str, int | None]
"""A line for comparison: its words with "#" for one number, and that number minus the page's index."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, the height of its baseline, and where its first and its last character start.

    Places are in points, up and to the right on the page as it is shown.
    """

    text: str
    height: float
    left: float = 0.0
    right: float = 0.0


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page, and a remark that says why it has none."""

    lines: tuple[Line, ...]
    remark: str = ""

    @property
    def text(self) -> str:
        """The lines, without blank ones at either end."""
        return "\n".join(line.text for line in self.lines).strip()


def drop_running_lines(pages: Sequence[Page]) -> list[Page]:
    """The pages without their running lines; a page of running lines alone has no text."""
    dropped: list[set[int]] = [set() for _ in pages]
    for top in (True, False):
        edges = [_edge(page.lines, top) for page in pages]
        verdicts = _verdicts(pages, edges)
        for number, page in enumerate(pages):
            for i in edges[number]:
                found = [verdicts.get((number, form)) for form in _forms(page.lines[i].text, number)]
                if all(drop is None for drop in found):
                    break  # a line inside of one that does not run belongs to the text
                if any(found):
                    dropped[number].add(i)
    kept = []
    for page, drops in zip(pages, dropped, strict=True):
        left = replace(page, lines=tuple(line for i, line in enumerate(page.lines) if i not in drops))
        kept.append(replace(left, remark=NO_TEXT) if drops and not left.text else left)
    return kept


def _edge(lines: Sequence[Line], top: bool) -> list[int]:
    """The indexes of the outermost lines of a page, from the edge inward."""
    places = [i for i, line in enumerate(lines) if line.text.strip()]
    return sorted(places, key=lambda i: -lines[i].height if top else lines[i].height)[:MAX_EDGE_LINES]


def _forms(text: str, page: int) -> Iterator[Form]:
    words = " ".join(text.split())
    if any(character.isalpha() for character in words):
        yield words, None
    for match in NUMBER.finditer(words):
        yield f"{words[: match.start()]}#{words[match.end() :]}", int(match[0]) - page


def _verdicts(pages: Sequence[Page], edges: Sequence[Sequence[int]]) -> dict[tuple[int, Form], bool]:
    """For each page and form of a running line: True to drop it there."""
    places: dict[Form, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        for form in {form for i in edges[number] for form in _forms(page.lines[i].text, number)}:
            places[form].append(number)
    verdicts = {}
    for form, numbers in places.items():
        bare = form[1] is not None and BARE.fullmatch(form[0]) is not None
        for run in _runs(numbers):
            if len(run) >= (MIN_PAGES_ALIKE if form[1] is None else MIN_PAGES_NUMBERED):
                verdicts.update({(number, form): bare or number != run[0] for number in run})
    return verdicts


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    """The numbers, split where the next one is more than `MAX_STEP` away."""
    run: list[int] = []
    for number in numbers:
        if run and number - run[-1] > MAX_STEP:
            yield run
            run = []
        run.append(number)
    yield run


def in_reading_order(lines: Sequence[Line], depth: int = MAX_DEPTH) -> list[Line]:
    """The same lines; those that were drawn too early follow what stands above them."""
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
    """Where all following heights lie more than `apart` above all earlier ones."""
    highest = list(accumulate(heights, max))
    lowest = list(accumulate(reversed(heights), min))[::-1]
    return [i for i in range(1, len(heights)) if lowest[i] - highest[i - 1] > apart]


def _split(lines: Sequence[Line], cuts: Sequence[int]) -> list[Sequence[Line]]:
    return [lines[start:end] for start, end in pairwise([0, *cuts, len(lines)])]


def _share_width(some: Sequence[Line], others: Sequence[Line]) -> bool:
    left = max(min(line.left for line in some), min(line.left for line in others))
    return left < min(max(line.right for line in some), max(line.right for line in others))
