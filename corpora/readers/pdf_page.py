"""A page of a PDF as a picture, and boxes around words of its stored text. A hostile file may crash pdfium.

The stored text differs from pdfium's: words broken at line ends are whole, running lines are gone, lines may
have moved. So words are searched without white space and hyphens: all at once, else line by line, else word
by word. Of several places the one with the most similar surroundings is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from ctypes import c_double, c_int
from io import BytesIO
from itertools import takewhile
from math import sqrt
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected

from .pdf import load_page, open_pdf

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MAX_WIDTH = 2_000  # pixels
MAX_PIXELS = 8_000_000
MAX_CHARACTERS = 200_000  # of a page; on one with more nothing is searched
MAX_PLACES = 1_000  # of the same words that are compared
MAX_BOXES = 500
FINE = 100  # pixels a point: pdfium's device coordinates are whole numbers
HYPHENS = "-\xad\x02\u2010\u2011\ufffe"
Box = tuple[float, float, float, float]
"""x, y, width and height in points, right and down from the top left corner of the page as it is shown."""


def page_png(data: bytes, page: int, width: int) -> bytes:
    """Page `page`, from 1, as PNG of `width` pixels, less where it would be too large."""
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
    """The number of pages, width and height of a page in points, and a box for each line of `words`.

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

    width, height = page.get_size()
    with closing(page.get_textpage()) as characters:
        n_characters = raw.FPDFText_CountChars(characters)
        if n_characters > MAX_CHARACTERS:
            return
        codes = [chr(min(raw.FPDFText_GetUnicode(characters, i), 0x10FFFF)) for i in range(n_characters)]
        places = [i for i, code in enumerate(codes) if _counts(code)]
        seen = "".join(codes[i] for i in places)
        edges, across, down = [c_double() for _ in range(4)], c_int(), c_int()
        for start, end in _matches(seen, words, _squeeze(before), _squeeze(after)):
            first, last = places[start], places[end - 1]
            for i in range(min(raw.FPDFText_CountRects(characters, first, last + 1 - first), MAX_BOXES)):
                raw.FPDFText_GetRect(characters, i, *edges)
                left, top, right, bottom = (edge.value for edge in edges)
                corners = []  # on the page as it is shown: turned and cut to its box
                for x, y in ((left, top), (right, bottom)):
                    size = 0, 0, int(width * FINE), int(height * FINE)
                    raw.FPDF_PageToDevice(page, *size, 0, x, y, across, down)
                    corners.append((across.value / FINE, down.value / FINE))
                (x, y), (to_x, to_y) = corners
                yield min(x, to_x), min(y, to_y), abs(to_x - x), abs(to_y - y)


def _counts(character: str) -> bool:
    return character > " " and character not in HYPHENS and not character.isspace()


def _squeeze(text: str) -> str:
    """The text without white space and hyphens, in UTF-16 code units as pdfium counts."""
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(filter(_counts, map(chr, memoryview(units).cast("H"))))


def _matches(seen: str, words: str, before: str, after: str) -> Iterator[tuple[int, int]]:
    """Where the words stand among the characters of the page: whole, else each line, else each word."""
    wanted = _squeeze(words)
    starts, start = list[int](), seen.find(wanted) if wanted else -1
    while start >= 0 and len(starts) < MAX_PLACES:
        starts.append(start)
        start = seen.find(wanted, start + 1)
    if starts:
        best = max(starts, key=lambda at: _agreement(seen, at, at + len(wanted), before, after))
        yield best, best + len(wanted)
        return
    parts = words.split("\n") if "\n" in words.strip() else words.split()
    for i, part in enumerate(parts if len(parts) > 1 else ()):
        ahead, behind = _squeeze("".join(parts[:i])), _squeeze("".join(parts[i + 1 :]))
        yield from _matches(seen, part, before + ahead, behind + after)


def _agreement(seen: str, start: int, end: int, before: str, after: str) -> int:
    """How many characters around a place agree with those around the words."""
    ahead = zip(reversed(seen[max(0, start - len(before)) : start]), reversed(before), strict=False)
    behind = zip(seen[end : end + len(after)], after, strict=False)
    return sum(1 for pairs in (ahead, behind) for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
