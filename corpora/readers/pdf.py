"""PDF: the text of each page as pdfium gives it, and the outline as headings where its words are found.

Pages are joined by an empty line, or by a line end alone where a page stops in the middle of a sentence,
so that the sentence stays whole; running headers and footers are left out after their first occurrence, what
was drawn before the text above it is put below it, and words broken at line ends are made whole. Pages
without text are named in the metadata, under "pages_without_text" by number and under "remark" in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .hyphens import rejoin
from .outline import find_headings
from .pdf_pages import NO_MEANING, NO_TEXT, Page, open_pdf, read_page
from .pdf_remarks import remark_on
from .reading_order import in_reading_order
from .running_lines import drop_running_lines
from .text_builder import TextBuilder
from .titles import choose_title, first_line

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MEDIA_TYPE = "application/pdf"
FOR_OCR = (NO_TEXT, NO_MEANING)
MAX_TEXT = 50_000_000  # characters
SENTENCE_ENDS = tuple('.!?:…。！？"”’)]')


def read(data: bytes, document_id: str) -> Document:
    """The document of a PDF; title from its metadata, else the first heading, line or file name."""
    with closing(open_pdf(data)) as pdf:
        pages = _read_pages(pdf)
        builder, page_starts = _write_pages(rejoin(page.text for page in pages))
        text = builder.text
        if not text:
            raise DocumentRejected(_reason(pages))
        headings = find_headings(pdf, text, page_starts)
        title = pdf.get_metadata_value("Title")
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(
            title, first_line(text), headings[0].text if headings else "", document_id=document_id
        ),
        text=text,
        page_starts=tuple(page_starts),
        headings=tuple(headings),
        metadata=_metadata(pages),
    )


def _read_pages(pdf: PdfDocument) -> list[Page]:
    pages: list[Page] = []
    n_characters = 0
    for index in range(len(pdf)):
        pages.append(read_page(pdf, index))
        n_characters += len(pages[-1].text)
        if n_characters > MAX_TEXT:
            raise DocumentRejected(
                f"more than {MAX_TEXT:,} characters of text by page {index + 1}, the limit"
            )
    return [replace(page, lines=tuple(in_reading_order(page.lines))) for page in drop_running_lines(pages)]


def _write_pages(pages: Sequence[str]) -> tuple[TextBuilder, list[int]]:
    """The text, and the offset of each page in it."""
    builder = TextBuilder()
    page_starts: list[int] = []
    for text in pages:
        page_starts.append(builder.write(text))
        if text:
            builder.end_line(blank=text.endswith(SENTENCE_ENDS))
    return builder, page_starts


def _metadata(pages: Sequence[Page]) -> dict[str, str]:
    metadata = {}
    blank = [str(number) for number, page in enumerate(pages, start=1) if not page.text]
    if blank:
        metadata["pages_without_text"] = ",".join(blank)
    if remark := remark_on(pages):
        advice = "; ocrmypdf adds a text layer" if any(page.remark in FOR_OCR for page in pages) else ""
        metadata["remark"] = remark + advice
    return metadata


def _reason(pages: Sequence[Page]) -> str:
    """Why a PDF without text is refused."""
    advice = ". Add a text layer with ocrmypdf" if any(page.remark in FOR_OCR for page in pages) else ""
    return f"PDF {remark_on(pages) or 'without pages'}{advice}"
