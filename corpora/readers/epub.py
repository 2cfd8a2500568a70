"""EPUB 2 and 3: the chapters in reading order, each as a browser would show it.

A chapter without a heading of its own gets the title that the table of contents gives it. What is listed
but is not in the archive is remarked; the contents page itself is navigation and left out, as it is in
HTML.
"""

from __future__ import annotations

from spanwise.types import Document, Heading

from . import html
from .building import build_document, joined
from .epub_package import Book, Entry, read_book
from .package import Package
from .text_builder import TextBuilder

MEDIA_TYPE = "application/epub+zip"
OPENING = 200  # characters in which a chapter's own heading is looked for


def read(data: bytes, document_id: str) -> Document:
    """The document of an EPUB; title, creators and language from its package document."""
    package = Package(data)
    book = read_book(package)
    builder = TextBuilder()
    missing = [part for part in book.spine if not _write_chapter(builder, package, part, book)]
    return build_document(
        builder,
        data,
        document_id,
        MEDIA_TYPE,
        book.title,
        creator=book.creator,
        language=book.language,
        remark=joined({"chapters missing from the archive": missing}),
    )


def _write_chapter(builder: TextBuilder, package: Package, part: str, book: Book) -> bool:
    """False when the archive does not hold the chapter."""
    if part not in package.names:
        return False
    chapter = html.read(package.read(part), part)
    if not chapter.text:
        return True
    entry = book.contents.get(part)
    builder.end_line(blank=True)
    n_headings = len(builder.headings)
    start = builder.include(chapter)
    if entry and entry.title:
        builder.add_label(start, _label(entry))
        if not any(heading.start < OPENING for heading in chapter.headings):
            builder.headings.insert(n_headings, Heading(start, entry.level, entry.title))
    else:
        builder.add_label(start, part.rpartition("/")[2])
    return True


def _label(entry: Entry) -> str:
    return entry.title if entry.title.lower().startswith("chapter") else f"chapter {entry.title}"
