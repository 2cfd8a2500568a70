"""The pages of a PDF that hold no text but a picture of it, read by OCR."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from ..ocr import recognize
from .pdf_pages import BY_OCR, NO_MEANING, NO_TEXT, Line, Page

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_PAGES = 200  # of one file; tesseract takes about three seconds for each
MAX_PIXELS = 25_000_000  # of one page: A3 at 350 dots an inch
DOTS_AN_INCH = 300
POINTS_AN_INCH = 72
FOR_OCR = (NO_TEXT, NO_MEANING)
FAILED = "whose OCR failed"


def recognize_pages(pdf: PdfDocument, pages: Sequence[Page], languages: str) -> list[Page]:
    """The pages, those without readable text read by OCR: `MAX_PAGES` of them, the others as they were."""
    unread = [i for i, page in enumerate(pages) if page.remark in FOR_OCR][:MAX_PAGES]
    recognized = {i: _recognize(pdf, i, languages) for i in unread}
    return [recognized.get(i, page) for i, page in enumerate(pages)]


def _recognize(pdf: PdfDocument, index: int, languages: str) -> Page:
    try:
        text = recognize(_picture(pdf, index), languages)
    except subprocess.SubprocessError:
        return Page((), FAILED)
    return Page(tuple(Line(line, 0.0) for line in text.split("\n")), BY_OCR) if text else Page((), NO_TEXT)


def _picture(pdf: PdfDocument, index: int) -> bytes:
    """A page as a greyscale picture in PGM form."""
    with closing(pdf[index]) as page:
        width, height = page.get_size()
        finest = math.sqrt(MAX_PIXELS / max(1.0, width * height))
        grey = page.render(scale=min(DOTS_AN_INCH / POINTS_AN_INCH, finest), grayscale=True).to_numpy()
    return b"P5 %d %d 255\n" % (grey.shape[1], grey.shape[0]) + bytes(grey.tobytes())
