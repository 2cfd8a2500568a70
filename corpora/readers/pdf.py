"""PDF: the text of each page as pypdf gives it, and the outline as headings where its words are found.

Pages are joined by an empty line, or by a line end alone where a page stops in the middle of a sentence,
so that the sentence stays whole; words broken at line ends are made whole. pypdf leaves it to its callers
to catch what it raises on damaged files, which may be anything.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .hyphens import rejoin
from .outline import find_headings
from .text_builder import TextBuilder
from .titles import choose_title, first_line

if TYPE_CHECKING:
    from pypdf import PdfReader

MEDIA_TYPE = "application/pdf"
MAX_TEXT = 50_000_000  # characters
SENTENCE_ENDS = tuple('.!?:…。！？"”’)]')

# pypdf logs every repair it makes; without this, Python prints them on stderr when nobody listens.
logging.getLogger("pypdf").addHandler(logging.NullHandler())


def read(data: bytes, document_id: str) -> Document:
    """The document of a PDF; title from its metadata, else the first heading, line or file name."""
    from pypdf.errors import DependencyError

    try:
        return _read(data, document_id)
    except DocumentRejected:
        raise
    except DependencyError as error:
        raise DocumentRejected(f"encrypted PDF: {error}; install that package to read it") from error
    except Exception as error:
        raise DocumentRejected(f"damaged PDF: {type(error).__name__}: {error}") from error


def _read(data: bytes, document_id: str) -> Document:
    pdf = _open(data)
    builder, page_starts, blank_pages = _write_pages(rejoin(_extract(pdf)))
    text = builder.text
    if not text:
        pages = "its only page" if len(page_starts) == 1 else f"any of its {len(page_starts)} pages"
        raise DocumentRejected(f"no text on {pages} (scanned?)")
    headings = find_headings(pdf, text, page_starts)
    title = (pdf.metadata.title or "") if pdf.metadata else ""
    heading = headings[0].text if headings else ""
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(title, first_line(text), heading, document_id=document_id),
        text=text,
        page_starts=tuple(page_starts),
        headings=tuple(headings),
        metadata={"pages_without_text": ",".join(map(str, blank_pages))} if blank_pages else {},
    )


def _open(data: bytes) -> PdfReader:
    """The opened file; an encrypted one opens when its user password is empty, as most are."""
    from pypdf import PdfReader

    pdf = PdfReader(BytesIO(data))
    if pdf.is_encrypted and not pdf.decrypt(""):
        raise DocumentRejected("encrypted PDF: needs a password")
    return pdf


def _extract(pdf: PdfReader) -> Iterator[str]:
    n_characters = 0
    for number, page in enumerate(pdf.pages, start=1):
        text = page.extract_text().strip()
        n_characters += len(text)
        if n_characters > MAX_TEXT:
            raise DocumentRejected(f"more than {MAX_TEXT:,} characters of text by page {number}, the limit")
        yield text


def _write_pages(pages: list[str]) -> tuple[TextBuilder, list[int], list[int]]:
    """The text, the offset of each page in it, and the numbers of the pages without text."""
    builder = TextBuilder()
    page_starts: list[int] = []
    for text in pages:
        if text:
            page_starts.append(builder.write(text))
            builder.end_line(blank=text.endswith(SENTENCE_ENDS))
        else:
            page_starts.append(builder.length)
    return builder, page_starts, [number for number, text in enumerate(pages, start=1) if not text]
