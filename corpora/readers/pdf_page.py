"""Draws a page of a PDF, and finds the boxes of words of its stored text. A hostile file may crash pdfium.

The stored text differs from that of pdfium: broken words are whole, running lines are dropped, and lines may
have moved. So words are searched without white space and hyphens, first all together, then line by line, then
word by word. Among several places, the one with the most similar text around it is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from ctypes import c_double, c_int
from io import BytesIO
from itertools import islice, takewhile
from math import sqrt
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected

from .pdf import load_page, open_pdf

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MAX_WIDTH = 2_000  # pixels
MAX_PIXELS = 8_000_000
MAX_CHARACTERS = 200_000  # of a page that is searched
MAX_PLACES = 1_000  # of the same words
MAX_BOXES = 500
FINE = 100  # pixels per point; the device coordinates of pdfium are whole numbers
HYPHENS = "-\xad\x02\u2010\u2011\ufffe"
Box = tuple[float, float, float, float]
"""x, y, width and height in points, from the top left corner of the page as it is shown."""


def page_png(data: bytes, page: int, width: int) -> bytes:
    """A page, counted from 1, as a PNG of `width` pixels, or of fewer for a very large page."""
    with closing(open_pdf(data)) as pdf, closing(_load(pdf, page)) as loaded:
        points, height = loaded.get_size()
        scale = min(min(max(width, 1), MAX_WIDTH) / points, sqrt(MAX_PIXELS / (points * height)))
        file = BytesIO()
        with closing(loaded.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)) as bitmap:
            bitmap.to_pil().save(file, "PNG", compress_level=3)
        return file.getvalue()


def page_boxes(
    data: bytes, page: int, words: str, before: str = "", after: str = ""
) -> tuple[int, float, float, list[Box]]:
    """The number of pages, the width and height of a page in points, and a box for each line of `words`.

    `before` and `after` are the stored text around the words. `DocumentRejected` for an unreadable page.
    """
    with closing(open_pdf(data)) as pdf, closing(_load(pdf, page)) as loaded:
        return len(pdf), *loaded.get_size(), list(_boxes(loaded, words, before, after))[:MAX_BOXES]


def _load(pdf: PdfDocument, page: int) -> PdfPage:
    from pypdfium2 import PdfiumError

    if not 1 <= page <= len(pdf):
        raise DocumentRejected(f"no page {page}: the file has {len(pdf)} pages")
    try:
        loaded = load_page(pdf, page - 1)
    except PdfiumError as error:
        raise DocumentRejected(f"page {page} is damaged") from error
    if min(loaded.get_size()) < 1.0:
        raise DocumentRejected(f"page {page} is too small to show")
    return loaded


def _boxes(page: PdfPage, words: str, before: str, after: str) -> Iterator[Box]:
    from pypdfium2 import raw

    with closing(page.get_textpage()) as characters:
        n_characters = raw.FPDFText_CountChars(characters)
        if n_characters > MAX_CHARACTERS:
            return
        codes = [chr(min(raw.FPDFText_GetUnicode(characters, i), 0x10FFFF)) for i in range(n_characters)]
        places = [i for i, code in enumerate(codes) if _counts(code)]
        seen = "".join(codes[i] for i in places)
        edges = [c_double() for _ in range(4)]  # left, top, right, bottom
        for start, end in _matches(seen, words, _squeeze(before), _squeeze(after)):
            first = places[start]
            n_characters = places[end - 1] + 1 - first
            for i in range(min(raw.FPDFText_CountRects(characters, first, n_characters), MAX_BOXES)):
                raw.FPDFText_GetRect(characters, i, *edges)
                left, top, right, bottom = (edge.value for edge in edges)
                x, y = _shown(page, left, top)
                to_x, to_y = _shown(page, right, bottom)
                yield min(x, to_x), min(y, to_y), abs(to_x - x), abs(to_y - y)


def _shown(page: PdfPage, x: float, y: float) -> tuple[float, float]:
    """A place on the page as it is shown, which is rotated and cut to its box."""
    from pypdfium2 import raw

    width, height = page.get_size()
    across = c_int()
    down = c_int()
    raw.FPDF_PageToDevice(page, 0, 0, int(width * FINE), int(height * FINE), 0, x, y, across, down)
    return across.value / FINE, down.value / FINE


def _counts(character: str) -> bool:
    return character > " " and character not in HYPHENS and not character.isspace()


def _squeeze(text: str) -> str:
    """The text without white space and hyphens, in UTF-16 code units like that of pdfium."""
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(filter(_counts, map(chr, memoryview(units).cast("H"))))


def _matches(seen: str, words: str, before: str, after: str) -> Iterator[tuple[int, int]]:
    """The spans of the words in the characters of the page: as a whole, else each line, else each word."""
    target = _squeeze(words)
    length = len(target)
    places = re.finditer(f"(?={re.escape(target)})", seen) if target else iter(())
    starts = [place.start() for place in islice(places, MAX_PLACES)]
    if starts:
        best = max(starts, key=lambda start: _agreement(seen, start, start + length, before, after))
        yield best, best + length
        return
    parts = words.split("\n") if "\n" in words.strip() else words.split()
    for i, part in enumerate(parts if len(parts) > 1 else ()):
        ahead = before + _squeeze("".join(parts[:i]))
        behind = _squeeze("".join(parts[i + 1 :])) + after
        yield from _matches(seen, part, ahead, behind)


def _agreement(seen: str, start: int, end: int, before: str, after: str) -> int:
    """The number of characters next to a place that agree with those next to the words."""
    ahead = zip(reversed(seen[max(0, start - len(before)) : start]), reversed(before), strict=False)
    behind = zip(seen[end : end + len(after)], after, strict=False)
    return sum(1 for pairs in (ahead, behind) for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
