"""A page of a PDF as a picture, and where words stand on it. A file made to harm may kill the process."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from math import sqrt
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected

from .pdf_pages import flattened, open_pdf
from .pdf_words import Box, boxes_of

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MAX_WIDTH = 2_000  # pixels
MAX_PIXELS = 8_000_000
MIN_SIDE = 1.0  # points: a page of less is none
COMPRESSION = 3  # of zlib: pages of text are smaller than with the usual 6, in two thirds of the time


@dataclass(frozen=True, slots=True)
class PagePlaces:
    """The size of a page in points, as it is shown, how many pages there are, and boxes around words."""

    width: float
    height: float
    n_pages: int
    boxes: tuple[Box, ...]


def page_places(data: bytes, page: int, words: str, before: str = "", after: str = "") -> PagePlaces:
    """The page of that number, from 1, and where `words` stand on it; see `pdf_words.boxes_of`.

    `DocumentRejected` for a file that does not open, a page that there is not, and one that cannot be read.
    """
    with closing(open_pdf(data)) as pdf, closing(_page(pdf, page)) as opened:
        width, height = opened.get_size()
        with closing(opened.get_textpage()) as characters:
            found = boxes_of(opened, characters, words, before, after) if words else []
        return PagePlaces(width, height, len(pdf), tuple(found))


def page_png(data: bytes, page: int, width: int) -> bytes:
    """The page of that number, from 1, as PNG, `width` pixels wide, or less where it would be too large."""
    if not 1 <= width <= MAX_WIDTH:
        raise ValueError(f"width is {width}, expected 1 to {MAX_WIDTH}")
    with closing(open_pdf(data)) as pdf, closing(_page(pdf, page)) as opened:
        points, height = opened.get_size()
        scale = min(width / points, sqrt(MAX_PIXELS / (points * height)))
        file = BytesIO()
        with closing(opened.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)) as bitmap:
            bitmap.to_pil().save(file, "PNG", compress_level=COMPRESSION)  # its pixels are the bitmap's own
        return file.getvalue()


def _page(pdf: PdfDocument, page: int) -> PdfPage:
    from pypdfium2 import PdfiumError

    if not 1 <= page <= len(pdf):
        raise DocumentRejected(f"page {page} is not there: the file has {len(pdf)} pages")
    try:
        opened = flattened(pdf, page - 1)
    except PdfiumError as error:
        raise DocumentRejected(f"page {page} is damaged") from error
    if min(opened.get_size()) < MIN_SIDE:
        opened.close()
        raise DocumentRejected(f"page {page} has no size that can be shown")
    return opened
