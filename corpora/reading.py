"""A file becomes a document: its format is told by content first and by name second.

Whatever is text in a known encoding is read as plain text, whatever its name. A file of a format
that no reader knows is passed over; one of a known format that cannot be read is rejected with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .binary import is_binary
from .containers import MAIL, ZIPPED, Reader, is_mail, refuse_ole, refuse_promise, zip_reader
from .decoding import decode
from .opening import read_regular
from .readers import asciidoc, csv, eml, html, ipynb, json, markdown, pdf, rst, rtf, tex, text, xml

BY_SUFFIX: dict[str, Reader] = {
    **dict.fromkeys((".txt", ".text", ".log"), text.read),
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), markdown.read),
    **dict.fromkeys((".html", ".htm", ".xhtml"), html.read),
    **dict.fromkeys((".csv", ".tsv", ".tab", ".psv"), csv.read),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson"), json.read),
    **dict.fromkeys((".xml", ".rss", ".atom", ".dbk", ".docbook", ".opml", ".fb2", ".tei"), xml.read),
    **dict.fromkeys((".rst", ".rest"), rst.read),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc", ".ad"), asciidoc.read),
    **dict.fromkeys((".tex", ".latex", ".ltx"), tex.read),
    ".ipynb": ipynb.read,
    ".pdf": pdf.read,
}
# Text in form, but nothing in it answers a question.
NOT_PROSE = frozenset((".css", ".js", ".mjs", ".map", ".svg"))
READERS = "3"  # raise it when some bytes would be read that were refused, or otherwise than before
NO_OTHERS: Mapping[str, Reader] = {}
MAX_TEXT = 50_000_000  # characters
HEAD = 1024  # bytes looked at for the marks of a format
HTML_START = re.compile(rb"(?:<\?xml[^>]{0,200}>)?\s{0,100}<(?:!doctype\s{1,20}html|html)[\s>]", re.I)
XML_START = re.compile(rb"<\?xml\s")
SVG_START = re.compile(rb"(?:<(?:\?|!)[^>]{0,300}>\s{0,100}){0,9}<svg[\s>]")
# Keys and signatures; a signed message is text.
ARMOUR = re.compile(rb"-----BEGIN PGP (?!SIGNED)")
NOTEBOOK = re.compile(rb'"nbformat"\s{0,100}:')
ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


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


def known_suffixes() -> set[str]:
    """The suffixes of files that this package reads by readers of its own, other than as plain text."""
    return {*BY_SUFFIX, *ZIPPED, *MAIL, ".rtf"}


def parse(
    data: bytes,
    document_id: str,
    others: Mapping[str, Reader] = NO_OTHERS,
) -> Document | Skipped:
    """The document in the bytes of a file, which are never empty or blank in what is returned.

    `others` are readers for suffixes that this package does not know; they go before a look at the content.
    """
    if not data:
        raise DocumentRejected("empty file")
    suffix = PurePosixPath(document_id).suffix.lower()
    reader = others[suffix] if suffix in others else choose_reader(data, suffix)
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
    return document


def choose_reader(data: bytes, suffix: str) -> Reader | None:
    """The reader for a content and a name, None when there is none; `DocumentRejected` when they clash."""
    head = data[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n\f\0")
    if head.startswith(b"%PDF-"):
        return pdf.read
    if head.startswith(ZIP):
        return zip_reader(data, suffix)
    if head.startswith(OLE):
        refuse_ole(data, suffix)
        return None
    if head.startswith(b"{\\rtf"):
        return rtf.read
    refuse_promise(suffix)
    known = BY_SUFFIX.get(suffix)
    if known is None and is_mail(head, suffix):
        return eml.read
    if known is pdf.read and b"%PDF-" not in data[:HEAD]:
        raise DocumentRejected("not a PDF: it does not start with %PDF-")
    if suffix in NOT_PROSE or ARMOUR.match(head) or SVG_START.match(head):
        return None
    if known is None and is_no_text(data):
        return None
    return by_content(data, head, known) or known or text.read


def by_content(data: bytes, head: bytes, known: Reader | None) -> Reader | None:
    """The reader for a text whose content says more than its name, None when it does not."""
    if HTML_START.match(head) and known is not markdown.read:
        return html.read
    if known is xml.read or XML_START.match(head):
        return xml.read
    if known is json.read and NOTEBOOK.search(data):
        return ipynb.read
    return None


def is_no_text(data: bytes) -> bool:
    """True for what is binary, and for bytes that no known encoding makes text of."""
    if is_binary(data):
        return True
    try:
        decode(data)
    except DocumentRejected:
        return True
    return False
