"""OCR: an engine reads the pictures of pages that have no text, after the words of all files are stored.

A page is kept when it is read, see `index.pages`. A document is replaced once, when all its pages are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal

from spanwise.errors import DocumentRejected
from spanwise.types import Document, DocumentWarning, ProgressCallback, SyncReport

from ...corpora.folder import FoundFile, Listing, read_regular
from ...corpora.readers.pdf import MEDIA_TYPE as PDF, WAITING
from ...corpora.readers.scan import FAULT, PICTURES, Engine, find_engine
from ...index.analysis import Analyzer
from ...index.files import sha256_of
from ...index.pages import OCR, PageStore, Recognised, page_keys
from ...index.schema import UnreadFile
from ...index.snapshot import Snapshot
from ...index.store import Store
from .pool import ParsedDocument, ParsePool, ParseWorker
from .sync import FileReader, sync_words, with_refusals
from .worker import Limits

OcrMode = Literal["off", "pdf", "all"]
"""No file, PDFs, or pictures too."""

DEFAULT: OcrMode = "pdf"
LIMITS = Limits(memory_bytes=2 * 2**30, cpu_s=60, wall_s=60.0)
LOCK_S = 60.0  # to wait for another writer
TASK = "scans"  # of progress
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
N_WAITING = re.compile(WAITING + r": ([0-9]{1,6}) page")


def waiting_pages(snapshot: Snapshot, mode: str, retry: bool = False) -> dict[str, int]:
    """The files with pages that wait for OCR and the number of these; in mode "all" also pictures.

    With `retry` also the files with a page that could not be recognised.
    """
    notes = {
        document.id: document.metadata.get("remark", "")
        for document in snapshot.descriptions()
        if document.media_type in (PDF, *PICTURES.values())
    }
    unread = snapshot.unread_files()
    notes |= {name: refusal.reason for name, refusal in unread.items()}
    waiting = {name: int(match[1]) for name, note in notes.items() if (match := N_WAITING.search(note))}
    if mode == "all":
        skipped = [name for name, refusal in unread.items() if refusal.kind == "skipped"]
        waiting |= {name: 1 for name in skipped if name.lower().endswith(PICTURE_SUFFIXES)}
    return waiting | {name: 1 for name, note in notes.items() if retry and FAULT in note}


def use_ocr(store: Store, mode: OcrMode) -> None:
    """Store what is recognised from the next sync on."""
    if store.settings.get(OCR, DEFAULT) != mode:
        store.change(lambda writer: writer.set(OCR, mode))


def sync_documents(
    store: Store,
    listing: Listing,
    analyzer: Analyzer,
    on_progress: ProgressCallback,
    workers: int | None = None,
    retry: bool = False,
    ocr: bool = True,
    **options: Any,
) -> SyncReport:
    """The report of `sync_words`, with the documents that were recognised after it if `ocr`."""
    report = sync_words(store, listing, analyzer, on_progress, workers, retry, **options)
    if not ocr:
        return report
    report = read_scans(store, listing, analyzer, report, on_progress, workers, retry)
    with store.snapshot() as snapshot:
        # Pages may be without a document while others wait.
        if not waiting_pages(snapshot, store.settings.get(OCR, DEFAULT)):
            keys = [page_keys(document.metadata).values() for document in snapshot.descriptions()]
            PageStore(store.path).prune(set(chain.from_iterable(keys)))
    return report


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """A page to read: its file with its digest, its number, and whether it is the last one of the file."""

    file: FoundFile
    sha256: str
    number: int
    is_last: bool
    size: int = 0  # none of its file is read before its turn: pages of a large file are read side by side


def read_scans(
    store: Store,
    listing: Listing,
    analyzer: Analyzer,
    report: SyncReport,
    on_progress: ProgressCallback,
    workers: int | None = None,
    retry: bool = False,
) -> SyncReport:
    """Reads the pages that wait for OCR, commits each document; returns the report of the sync with them.

    Does nothing without an engine. A page that cannot be read costs a remark, and is tried again if `retry`.
    """
    mode = store.settings.get(OCR, DEFAULT)
    with store.snapshot() as snapshot:
        waiting = waiting_pages(snapshot, mode, retry)
        refusals = snapshot.unread_files()
    files = [file for file in listing.files if file.document_id in waiting]
    engine = find_engine() if files and mode != "off" else None
    if engine is None:
        return report
    read_page = partial(_read_page, PageStore(store.path), engine)
    remarks = {remark.document_id: remark.text for remark in report.remarks}
    stored: set[str] = set()
    settings = analyzer.settings()
    with ParsePool(settings, workers, LIMITS) as pool, closing(ParseWorker(settings, LIMITS)) as parser:
        pages = list(chain.from_iterable(pool.map(_pages_of, files)))
        on_progress(TASK, 0, len(pages))
        read: dict[int, Recognised] = {}
        for n, (page, result) in enumerate(zip(pages, pool.map(read_page, pages), strict=True), 1):
            read[page.number] = result
            if page.is_last:
                document = _store(store, parser, page, read, refusals.get(page.file.document_id))
                if document:
                    stored.add(document.id)
                    remarks[document.id] = document.metadata.get("remark", "")
                read = {}
            on_progress(TASK, n, len(pages))
    added = {*report.added, *(stored & refusals.keys())}
    report = replace(
        report,
        added=tuple(sorted(added)),
        updated=tuple(sorted(stored.union(report.updated) - added)),
        remarks=tuple(DocumentWarning(name, text) for name, text in sorted(remarks.items()) if text),
    )
    with store.snapshot() as snapshot:
        return with_refusals(report, snapshot, listing)


def _pages_of(worker: ParseWorker, file: FoundFile) -> list[ScannedPage]:
    """The pages of a file to read; page 1 of a file that cannot be opened, which then says why."""
    sha256 = ""
    numbers: list[int] = []
    with suppress(DocumentRejected):
        data = read_regular(file.root, file.place)
        sha256 = sha256_of(data)
        answer, _ = worker.ask({"waiting": True}, data)
        numbers = answer.get("waiting", [])
    numbers = numbers or [1]
    return [ScannedPage(file, sha256, number, number == numbers[-1]) for number in numbers]


def _read_page(pages: PageStore, engine: Engine, worker: ParseWorker, page: ScannedPage) -> Recognised:
    """The page, stored before or read now; with a fault if it cannot be read."""
    try:
        data = read_regular(page.file.root, page.file.place)
        _, blocks = worker.ask({"page": page.number}, data)
        picture = b"".join(blocks)
        key = sha256_of(f"{engine} {engine.version}".encode() + picture)
        recognised = pages.get(key)
        if recognised is None:
            answer, _ = worker.ask({"engine": asdict(engine)}, picture)
            recognised = {**answer, "key": key}
            pages.put(key, recognised)
        return recognised
    except DocumentRejected as error:
        return {"fault": str(error)}


def _store(
    store: Store,
    parser: ParseWorker,
    page: ScannedPage,
    read: Mapping[int, Recognised],
    refusal: UnreadFile | None,
) -> Document | None:
    """The document of what was read of the file of a page, stored; or None, with the reason in its refusal.

    Does nothing for a file that has changed.
    """
    outcome = FileReader(store, {}, {}, "", lambda _: read)(parser, page.file)
    result = outcome.result
    if outcome.state.sha256 != page.sha256:
        return None
    with store.writer(LOCK_S) as writer:
        if isinstance(result, ParsedDocument):
            writer.put(result.document, result.passages, result.terms, outcome.state)
        elif result and refusal:
            changed = replace(refusal, kind="rejected", reason=result.reason)
            writer.put_unread_file(page.file.document_id, changed)
        writer.commit()
    return result.document if isinstance(result, ParsedDocument) else None
