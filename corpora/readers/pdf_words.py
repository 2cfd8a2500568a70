"""Where words of a document's stored text stand on a page of its PDF, as boxes around them.

The stored text differs from what pdfium gives: words broken at a line end are whole, running lines are gone,
parts may have changed places. So words are looked for without white space and hyphens, all of them at once,
else line by line, else word by word; of several places the one whose surroundings agree longest is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import c_double, c_int
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

MAX_CHARACTERS = 200_000  # of a page; on one with more nothing is looked for
MAX_PLACES = 1_000  # of the same words that are compared
MAX_BOXES = 500
FINE = 100  # pixels a point, as the system's own coordinates are whole numbers
HYPHENS = "-\xad\x02\u2010\u2011\ufffe"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on the page as it is shown, in points right and down from its top left corner."""

    x: float
    y: float
    width: float
    height: float


def boxes_of(page: PdfPage, characters: PdfTextPage, words: str, before: str, after: str) -> list[Box]:
    """A box for each line of the words, in their order; none for words that the page does not hold.

    `before` and `after` are what stands around the words in the stored text, as much of it as there is.
    """
    codes = _codes(characters)
    seen = squeezed("".join(codes))
    if len(codes) > MAX_CHARACTERS or not squeezed(words):
        return []
    places = _places(codes)
    found: list[Box] = []
    for start, end in _matches(seen, words, squeezed(before), squeezed(after)):
        first, last = places[start], places[end - 1]
        found += _boxes(page, characters, first, last + 1)
    return found[:MAX_BOXES]


def squeezed(text: str) -> str:
    """The text without white space, hyphens and what is not seen.

    >>> squeezed("co-\\noperate at\\tonce")
    'cooperateatonce'
    """
    return "".join(filter(_counts, text))


def _counts(character: str) -> bool:
    return character > " " and character not in HYPHENS and not character.isspace()


def _codes(characters: PdfTextPage) -> list[str]:
    """The character at each of pdfium's places; halves of a surrogate pair make one, at the first place."""
    from pypdfium2 import raw

    codes = [raw.FPDFText_GetUnicode(characters, i) for i in range(raw.FPDFText_CountChars(characters))]
    found = [chr(code) if code < 0x110000 else "" for code in codes]
    for i, (high, low) in enumerate(pairwise(codes)):
        if 0xD800 <= high < 0xDC00 <= low < 0xE000:
            found[i : i + 2] = [chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00), ""]
    return found


def _places(codes: Sequence[str]) -> list[int]:
    """Which of pdfium's places each character of the squeezed page has."""
    return [i for i, code in enumerate(codes) if code and _counts(code)]


def _matches(seen: str, words: str, before: str, after: str) -> Iterator[tuple[int, int]]:
    """Where the words stand in the squeezed page: whole, else each line, else each word."""
    if (place := _find(seen, squeezed(words), before, after)) is not None:
        yield place
        return
    parts = [part for part in words.split("\n") if squeezed(part)]
    if len(parts) == 1:
        parts = [part for part in words.split() if squeezed(part)] if len(words.split()) > 1 else []
    ahead = [squeezed("".join(parts[:i])) for i in range(len(parts))]
    behind = [squeezed("".join(parts[i + 1 :])) for i in range(len(parts))]
    for part, earlier, later in zip(parts, ahead, behind, strict=True):
        yield from _matches(seen, part, before + earlier, later + after)


def _find(seen: str, words: str, before: str, after: str) -> tuple[int, int] | None:
    """The place of the words whose surroundings agree longest; the first of equals."""
    best, most, start = None, -1, -1
    for _ in range(MAX_PLACES):
        start = seen.find(words, start + 1)
        if start < 0:
            break
        end = start + len(words)
        ahead = _alike(seen[max(0, start - len(before)) : start][::-1], before[::-1])
        behind = _alike(seen[end : end + len(after)], after)
        if ahead + behind > most:
            best, most = (start, end), ahead + behind
    return best


def _alike(one: str, other: str) -> int:
    """How many characters two texts have in common from their start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _boxes(page: PdfPage, characters: PdfTextPage, start: int, end: int) -> Iterator[Box]:
    from pypdfium2 import raw

    edges = [c_double() for _ in range(4)]
    for i in range(min(raw.FPDFText_CountRects(characters, start, end - start), MAX_BOXES)):
        if raw.FPDFText_GetRect(characters, i, *edges):
            left, top, right, bottom = (edge.value for edge in edges)
            corners = [_shown(page, left, top), _shown(page, right, bottom)]
            (x, y), (to_x, to_y) = map(min, zip(*corners, strict=True)), map(max, zip(*corners, strict=True))
            yield Box(x, y, to_x - x, to_y - y)


def _shown(page: PdfPage, x: float, y: float) -> tuple[float, float]:
    """A point of the page's own coordinates on the page as it is shown: turned and cut to its box."""
    from pypdfium2 import raw

    width, height = page.get_size()
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, int(width * FINE), int(height * FINE), 0, x, y, across, down)
    return across.value / FINE, down.value / FINE
