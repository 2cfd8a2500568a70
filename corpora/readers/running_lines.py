"""Running headers and footers of a paged document, found by their own repetition and left out.

A line runs when it is one of the outermost lines at the top or bottom of a page, nothing that does not run
lies further out, and the same line stands there on several pages, each at most two pages after the one
before: so it is found on left pages alone and in one chapter alone. Lines are the same when they have the
same characters, or when all that differs is a number that grows with the page. The first of a run stays in
the text, so that no word is lost; a line that holds nothing but the page number is left out everywhere.
What differs in anything else, like the totals at the foot of a table, stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from .pdf_pages import NO_TEXT, Line, Page

MIN_PAGES_ALIKE = 4  # fewer may be slides that go on under the same title
MIN_PAGES_NUMBERED = 3
MAX_STEP = 2  # pages
MAX_LINES = 3  # at each edge
NUMBER = re.compile(r"(?<![\w.,])[0-9]{1,4}(?![\w,]|\.[0-9])")
# "#" stands for the page's number: "- # -", "Page # of 12", "# | 12".
BARE = re.compile(
    r"(?:[\W_]*+(?:p(?:age|g|[áa]gina)?|seite))?+(?:[^\w#]|_)*+#"
    r"[\W_]*+(?:of|von|de|di|sur)?+[\W_]*+[0-9]*+[\W_]*+",
    re.I,
)

Form = tuple[str, int | None]
"""A line as it is compared: its words, "#" for one number, and how far that is ahead of the page's index."""


def drop_running_lines(pages: Sequence[Page]) -> list[Page]:
    """The pages without their running lines; one that held nothing else becomes one without text."""
    dropped: list[set[int]] = [set() for _ in pages]
    for top in (True, False):
        edges = [_edge(page.lines, top) for page in pages]
        verdicts = _verdicts(pages, edges)
        for number, page in enumerate(pages):
            for i in edges[number]:
                about = [verdicts.get((number, form)) for form in _forms(page.lines[i].text, number)]
                if not any(verdict is not None for verdict in about):
                    break  # what stands further in than a line that does not run is the text
                if any(about):
                    dropped[number].add(i)
    return [_without(page, lines) for page, lines in zip(pages, dropped, strict=True)]


def _edge(lines: Sequence[Line], top: bool) -> list[int]:
    """The places of the outermost lines of a page, from the edge inward."""
    places = [i for i, line in enumerate(lines) if line.text.strip()]
    return sorted(places, key=lambda i: -lines[i].height if top else lines[i].height)[:MAX_LINES]


def _forms(text: str, page: int) -> Iterator[Form]:
    words = " ".join(text.split())
    if any(character.isalpha() for character in words):
        yield words, None
    for match in NUMBER.finditer(words):
        yield f"{words[: match.start()]}#{words[match.end() :]}", int(match[0]) - page


def _verdicts(pages: Sequence[Page], edges: Sequence[Sequence[int]]) -> dict[tuple[int, Form], bool]:
    """For each page and form of a running line: whether to leave it out there."""
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
    """The numbers, cut where the next one is more than `MAX_STEP` away."""
    run: list[int] = []
    for number in numbers:
        if run and number - run[-1] > MAX_STEP:
            yield run
            run = []
        run.append(number)
    yield run


def _without(page: Page, dropped: set[int]) -> Page:
    left = replace(page, lines=tuple(line for i, line in enumerate(page.lines) if i not in dropped))
    return replace(left, remark=NO_TEXT) if dropped and not left.text else left
