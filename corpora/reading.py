"""A file becomes a document: its format is told by content first and by name second.

Whatever decodes as UTF-8 and holds no NUL near its top is plain text, whatever its name. A file of a format
that no reader knows is passed over; one of a known format that cannot be read is rejected with a reason.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path, PurePosixPath

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from . import language
from .opening import read_regular
from .readers import docx, html, markdown, pdf, text

Reader = Callable[[bytes, str], Document]

BY_SUFFIX: dict[str, Reader] = {
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".csv", ".tsv"), text.read),
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), markdown.read),
    **dict.fromkeys((".html", ".htm", ".xhtml"), html.read),
    ".pdf": pdf.read,
    ".docx": docx.read,
}
# Text in form, but nothing in it answers a question.
NOT_PROSE = frozenset((".css", ".js", ".mjs", ".map", ".svg"))
READERS = "1"  # raise it when some bytes would be read that were refused, or otherwise than before
MAX_TEXT = 50_000_000  # characters
HEAD = 1024  # bytes looked at for the marks of a format
HTML_START = re.compile(rb"(?:<\?xml[^>]{0,200}>)?\s{0,100}<(?:!doctype\s{1,20}html|html)[\s>]", re.I)
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
MAIN_PART = "word/document.xml"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file of a format that no reader knows: which, and the reason under which it is counted."""

    document_id: str
    reason: str


def read_document(path: Path, document_id: str) -> Document | Skipped:
    """The document in a file; `DocumentRejected` says why a file of a known format cannot be read.

    The parts of `path` that spell `document_id` are opened without following links.
    """
    parts = PurePosixPath(document_id).parts
    if path.parts[-len(parts) :] != parts:
        raise ValueError(f"document id {document_id!r}: expected the end of the path {str(path)!r}")
    root = path.parents[len(parts) - 1]
    return parse(read_regular(root, document_id), document_id)


def parse(data: bytes, document_id: str) -> Document | Skipped:
    """The document in the bytes of a file, which are never empty or blank in what is returned."""
    if not data:
        raise DocumentRejected("empty file")
    suffix = PurePosixPath(document_id).suffix.lower()
    reader = choose_reader(data, suffix)
    if reader is None:
        return Skipped(document_id, f"unsupported format {suffix or '(no suffix)'}")
    try:
        document = reader(data, document_id)
    except (DocumentRejected, MemoryError):
        raise
    except Exception as error:  # a parser that fails on one file must not stop a folder
        raise DocumentRejected(f"its parser failed: {type(error).__name__}: {error}") from error
    if not document.text or document.text.isspace():
        raise DocumentRejected("no text in it")
    if len(document.text) > MAX_TEXT:
        raise DocumentRejected(f"{len(document.text):,} characters of text; the limit is {MAX_TEXT:,}")
    return _with_language(document)


def _with_language(document: Document) -> Document:
    """The document with its language, where it can be told, and with a remark where it is not English."""
    code = language.detect(document.text)
    if code is None:
        return document
    known = {**document.metadata, "language": code}
    if code != "en":
        remarks = [known["remark"]] if "remark" in known else []
        known["remark"] = "; ".join([*remarks, language.said(code)])
    return replace(document, metadata=known)


def choose_reader(data: bytes, suffix: str) -> Reader | None:
    """The reader for a content and a name, None when there is none; `DocumentRejected` when they clash."""
    head = data[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n\f\0")
    if head.startswith(b"%PDF-"):
        return pdf.read
    if head.startswith(ZIP):
        return docx.read if _is_word(data, suffix) else None
    if head.startswith(OLE) and suffix == ".docx":
        raise DocumentRejected("encrypted Word document, or one of the old .doc format")
    known = BY_SUFFIX.get(suffix)
    if known is pdf.read and b"%PDF-" not in data[:HEAD]:
        raise DocumentRejected("not a PDF: it does not start with %PDF-")
    if known is docx.read:
        raise DocumentRejected("not a Word document: it is no zip archive")
    if known in (None, text.read) and HTML_START.match(head):
        return html.read
    if known is None and (suffix in NOT_PROSE or not _looks_like_text(data)):
        return None
    return known or text.read


def _is_word(data: bytes, suffix: str) -> bool:
    """True for a zip archive with a Word document's main part."""
    try:
        names = zipfile.ZipFile(BytesIO(data)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        if suffix == ".docx":
            raise DocumentRejected(f"damaged or truncated Word document: {error}") from error
        return False
    if suffix == ".docx" and MAIN_PART not in names:
        raise DocumentRejected(f"not a Word document: the archive holds no {MAIN_PART}")
    return MAIN_PART in names


def _looks_like_text(data: bytes) -> bool:
    """True for UTF-8 and for UTF-16 with a byte order mark."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    if b"\0" in data[:HEAD]:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
