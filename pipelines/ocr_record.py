"""What an index remembers of OCR, so that asking for it reads again exactly what it may give a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spanwise.types import Document

from ..corpora.options import ReadOptions
from ..corpora.reading import READERS
from ..index.snapshot import Snapshot

NO_OTHERS: Mapping[str, str] = {}
BLANK_PAGES = "pages_without_text"  # in the metadata of documents: page numbers
OCR = "ocr"  # the languages in which such pages were tried


def reader_name(options: ReadOptions, others: Mapping[str, str] = NO_OTHERS) -> str:
    """What a refusal names as its reader: another one may read the same file after all.

    `others` are the parsers of other packages, by suffix.
    """
    name = f"{READERS} ocr {options.ocr_languages}" if options.ocr else READERS
    return f"{name} and {', '.join(f'{suffix} by {by}' for suffix, by in others.items())}" if others else name


def with_ocr_noted(document: Document, options: ReadOptions) -> Document:
    """The document, with the languages in its metadata if pages stayed blank under OCR."""
    if not options.ocr or BLANK_PAGES not in document.metadata:
        return document
    return replace(document, metadata={**document.metadata, OCR: options.ocr_languages})


def without_ocr(snapshot: Snapshot, options: ReadOptions) -> set[str]:
    """The documents with blank pages that these options may give a text."""
    if not options.ocr:
        return set()
    return {
        document.id
        for document in snapshot.descriptions()
        if BLANK_PAGES in document.metadata and document.metadata.get(OCR) != options.ocr_languages
    }
