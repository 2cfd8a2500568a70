"""A page of a PDF as a picture, and where words stand on it. A file made to harm may kill the process."""

from __future__ import annotations

import struct
import zlib
from contextlib import closing
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from spanwise.errors import DocumentRejected

from .pdf_pages import flattened, open_pdf
from .pdf_words import Box, boxes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pypdfium2 import PdfDocument, PdfPage

MAX_WIDTH = 2_000  # pixels
MAX_PIXELS = 8_000_000
MIN_SIDE = 1.0  # points: a page of less is none
SIGNATURE = b"\x89PNG\r\n\x1a\n"


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
        with closing(opened.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)) as bitmap:
            return png(bitmap.to_numpy())


def png(pixels: NDArray[Any]) -> bytes:
    """(height, width, 3 or 1) uint8, red first, as a PNG file."""
    height, width, channels = pixels.shape
    colour = {1: 0, 3: 2, 4: 6}[channels]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # a zero in front of each: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 4)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


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
