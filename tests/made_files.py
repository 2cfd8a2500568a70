"""Files of every format, made from a text by other programs than those that read them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from io import BytesIO

import docx
from made_office import NOT_IN_XML, OFFICE_MAKERS
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

NOT_IN_HELVETICA = re.compile(r"[^\x20-\x7e\xa1-\xac\xae-\xff]")


def as_text(text: str) -> bytes:
    return text.encode()


def as_html(text: str) -> bytes:
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in text.split("\n\n"))
    return f"<!doctype html><html><body>{paragraphs}<pre>{html.escape(text)}</pre></body></html>".encode()


def as_docx(text: str, heading: str = "") -> bytes:
    word = docx.Document()
    if heading:
        word.add_heading(heading, 1)
    for part in NOT_IN_XML.sub("", text).split("\n\n"):
        word.add_paragraph(part)
    return saved(word)


def saved(word: docx.document.Document) -> bytes:
    file = BytesIO()
    word.save(file)
    return file.getvalue()


def as_pdf(text: str) -> bytes:
    """One page for each part between form feeds, what Helvetica does not have left out."""
    pages = [[NOT_IN_HELVETICA.sub("", line) for line in page.split("\n")] for page in text.split("\f")]
    return pdf_of(pages)


def pdf_of(pages: list[list[str]], title: str = "", outline: dict[str, int] | None = None) -> bytes:
    """A PDF of pages of lines; `outline` maps entries to their level, on the page that holds their words."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=A5, invariant=True)
    if title:
        canvas.setTitle(title)
    for lines in pages:
        for height, line in enumerate(lines):
            canvas.drawString(20, 560 - 14 * height, line)
            if outline and line in outline:
                canvas.bookmarkPage(line)
                canvas.addOutlineEntry(line, line, level=outline[line] - 1)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


MAKERS: dict[str, Callable[[str], bytes]] = {
    "a.txt": as_text,
    "a.md": as_text,
    "a.html": as_html,
    "a.docx": as_docx,
    "a.pdf": as_pdf,
    **OFFICE_MAKERS,
}
