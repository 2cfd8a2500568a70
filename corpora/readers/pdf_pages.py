"""The lines of a PDF's pages, as pdfium finds them; what is filled into a form is a part of the page.

Text comes in the order in which the file draws it, which for most programs is that of reading. pdfium says
with each character whether a line ends before it, and which hyphens only break a word. It is not thread
safe; a file made to harm may kill the process, which is why folders are parsed in child processes.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import closing
from ctypes import c_double
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

NEW_LINE = ord("\n")
WORD_BREAK = 2  # what pdfium gives for a hyphen that breaks a word at a line end
UNKNOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ue000-\uf8ff\ufffd]")
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
MOST_UNKNOWN = 0.3  # of the characters of a page that can be read
# A few control codes betray a page whose fonts map most codes to nothing: its letters are wrong as well.
FEW_UNKNOWN, MOST_UNMAPPED = 0.05, 0.5

# pypdfium2 warns of damage that it works around; without this, Python prints that when nobody listens.
logging.getLogger("pypdfium2").addHandler(logging.NullHandler())

NO_TEXT = "without text (scanned?)"
NO_MEANING = "with fonts that do not say which characters they show"
DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, the height of its baseline, and where its first and its last character start.

    Places are those on the page as it is shown, in points up and to the right of a fixed point.
    """

    text: str
    height: float
    left: float = 0.0
    right: float = 0.0


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page, and what must be said about it, which is why it has none or how they came."""

    lines: tuple[Line, ...]
    remark: str = ""

    @property
    def text(self) -> str:
        """The lines, without blank ones at either end."""
        return "\n".join(line.text for line in self.lines).strip()


def open_pdf(data: bytes) -> PdfDocument:
    """The opened file; an encrypted one opens when its user password is empty, as most are."""
    from pypdfium2 import PdfDocument, PdfiumError, raw

    try:
        return PdfDocument(data)
    except PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise DocumentRejected("encrypted PDF: needs a password") from error
        if error.err_code == raw.FPDF_ERR_SECURITY:
            raise DocumentRejected("encrypted PDF: in a way that only special programs open") from error
        raise DocumentRejected(f"damaged PDF: {error}") from error


def read_page(pdf: PdfDocument, index: int) -> Page:
    """The page at an index from 0; a page that cannot be read gets a remark, not an error."""
    from pypdfium2 import PdfiumError

    try:
        with closing(flattened(pdf, index)) as page, closing(page.get_textpage()) as characters:
            page_read = Page(tuple(_lines(characters, page.get_rotation())))
            if not page_read.text:
                return Page((), NO_TEXT)
            return Page((), NO_MEANING) if _is_garbled(characters) else page_read
    except PdfiumError:
        return Page((), DAMAGED)


def flattened(pdf: PdfDocument, index: int) -> PdfPage:
    """The page with the values of its form fields drawn on it like all other text."""
    from pypdfium2 import raw

    page = pdf[index]
    if raw.FPDFPage_GetAnnotCount(page) <= 0:
        return page
    raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    page.close()
    return pdf[index]


def _lines(characters: PdfTextPage, rotation: int) -> Iterator[Line]:
    """The lines that hold characters, in the order drawn, white space at their ends left out."""
    from pypdfium2 import raw

    codes = [raw.FPDFText_GetUnicode(characters, i) for i in range(raw.FPDFText_CountChars(characters))]
    start = 0
    for i, code in enumerate([*codes, NEW_LINE]):
        breaks_word = code == WORD_BREAK and raw.FPDFText_IsHyphen(characters, i) == 1
        if code == NEW_LINE or breaks_word:
            text = _decoded(codes[start:i])
            if text:
                left, height = _origin(characters, start, rotation)
                right, _ = _origin(characters, start + len(text) - 1, rotation)
                yield Line(text + "-" * breaks_word, height, left, right)
            start = i + 1


def _decoded(codes: list[int]) -> str:
    """The text of some codes, halves of surrogate pairs joined; a hyphen that is drawn is no soft one."""
    text = "".join(chr(code) for code in codes if code < 0x110000)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return UNSEEN.sub("", text).replace("\xad", "-").rstrip()


def _origin(characters: PdfTextPage, i: int, rotation: int) -> tuple[float, float]:
    """Where a character stands on the page as it is shown, turned clockwise by `rotation` degrees."""
    from pypdfium2 import raw

    x, y = c_double(), c_double()
    raw.FPDFText_GetCharOrigin(characters, i, x, y)
    return {90: (y.value, -x.value), 180: (-x.value, -y.value), 270: (-y.value, x.value)}.get(
        rotation, (x.value, y.value)
    )


def _is_garbled(characters: PdfTextPage) -> bool:
    """True when what the fonts say about the page's characters cannot be what a person sees."""
    from pypdfium2 import raw

    shown = [
        i
        for i in range(raw.FPDFText_CountChars(characters))
        if raw.FPDFText_IsGenerated(characters, i) != 1 and raw.FPDFText_IsHyphen(characters, i) != 1
    ]
    codes = (raw.FPDFText_GetUnicode(characters, i) for i in shown)
    n_unknown = sum(code >= 0x110000 or UNKNOWN.match(chr(code)) is not None for code in codes)
    if n_unknown <= FEW_UNKNOWN * len(shown):
        return False
    n_unmapped = sum(raw.FPDFText_HasUnicodeMapError(characters, i) == 1 for i in shown)
    return bool(n_unknown > MOST_UNKNOWN * len(shown) or n_unmapped > MOST_UNMAPPED * len(shown))
