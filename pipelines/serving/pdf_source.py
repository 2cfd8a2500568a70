"""Pages of indexed PDFs: the file as it was when it was indexed, drawn in a child process."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from spanwise.errors import DocumentChanged, DocumentNotFound, DocumentRejected
from spanwise.types import Document

from ...corpora.opening import read_regular
from ...corpora.readers.pdf import MEDIA_TYPE
from ..folders import file_of
from ..parsing.page_drawer import PageDrawer

if TYPE_CHECKING:
    from ..library import Library

AROUND = 400  # code points of the text around a span, by which it is told from others in the same words


class PdfPages:
    """The pages of the PDFs of a library; for any number of threads."""

    def __init__(self, library: Library, drawer: PageDrawer | None = None) -> None:
        self._library = library
        self._drawer = drawer or PageDrawer()

    def places(self, document_id: str, page: int | None, start: int, end: int) -> dict[str, Any]:
        """The size of a page in points and boxes around what `[start, end)` covers of it.

        Without a `page` it is the one on which the span starts. DocumentNotFound for an id that is not in the
        index, ValueError for a span that is not in the document, DocumentRejected for a document without
        pages and a page that cannot be read, DocumentChanged for a file that is not what was indexed.
        """
        document = self._document(document_id)
        if not 0 <= start <= end <= len(document.text):
            raise ValueError(f"span [{start}, {end}) is outside of the document: {len(document.text)} long")
        number = page or max(bisect_right(document.page_starts, start), 1)
        words, before, after = _on_page(document, number, start, end)
        found = self._drawer.places(self._file(document), number, words, before, after)
        boxes = [{"x": b.x, "y": b.y, "width": b.width, "height": b.height} for b in found.boxes]
        return {
            "document": document_id,
            "page": number,
            "pages": found.n_pages,
            "width": round(found.width, 2),
            "height": round(found.height, 2),
            "boxes": [{side: round(value, 2) for side, value in box.items()} for box in boxes],
        }

    def picture(self, document_id: str, page: int, width: int) -> bytes:
        """The page as PNG, `width` pixels wide; raises as `places` does."""
        document = self._document(document_id)
        return self._drawer.picture(self._file(document), page, width)

    def close(self) -> None:
        """End the process that draws."""
        self._drawer.close()

    def _document(self, document_id: str) -> Document:
        try:
            document = self._library.document(document_id)
        except ValueError:
            raise DocumentNotFound(f"no document of the index is called {document_id!r}") from None
        if document.media_type != MEDIA_TYPE:
            raise DocumentRejected(f"{document_id} is no PDF: only the pages of PDFs can be shown")
        return document

    def _file(self, document: Document) -> bytes:
        """The bytes that were indexed."""
        root, place = file_of(document.id, self._library.roots)
        mend = "bring the index up to date with: spanwise index"
        if root is None:
            raise DocumentChanged(f"the folder of {document.id} is no longer indexed; {mend}")
        try:
            data = read_regular(root.folder, place)
        except DocumentRejected as error:
            raise DocumentChanged(f"the file of {document.id} {error}; {mend}") from None
        if hashlib.sha256(data).hexdigest() != document.sha256:
            raise DocumentChanged(f"{document.id} has changed since it was indexed; {mend}")
        return data


def _on_page(document: Document, page: int, start: int, end: int) -> tuple[str, str, str]:
    """What a span has on a page, and what stands before and after it there."""
    bounds = [*document.page_starts, len(document.text)]
    if not 1 <= page < len(bounds):
        raise DocumentRejected(f"page {page} is not there: {document.id} has {len(bounds) - 1} pages")
    first, last = bounds[page - 1], bounds[page]
    start, end = min(max(start, first), last), min(max(end, first), last)
    before = document.text[max(first, start - AROUND) : start]
    return document.text[start:end], before, document.text[end : min(last, end + AROUND)]
