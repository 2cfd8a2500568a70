"""OCR: an engine reads the pictures of pages that have no text, after the words of all files are stored.

A page is kept when it is read, see `index.pages`. A document is replaced once, when all its pages are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
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


def n_waiting(snapshot: Snapshot, mode: str) -> int:
    """The number of pages that wait for OCR; in mode "all" also of pictures."""
    notes = _notes(snapshot).values()
    n_pages = sum(int(match[1]) for note in notes for match in N_WAITING.finditer(note))
    return n_pages + len(_pictures(snapshot, mode))


def _pictures(snapshot: Snapshot, mode: str) -> set[str]:
    """The pictures that wait for OCR in a mode."""
    skipped = snapshot.unread_files("skipped") if mode == "all" else ()
    return {name for name in skipped if name.lower().endswith(PICTURE_SUFFIXES)}


def _notes(snapshot: Snapshot) -> dict[str, str]:
    """The remark on each PDF and picture, and the reason of each refusal."""
    notes = {
        document.id: document.metadata.get("remark", "")
        for document in snapshot.descriptions()
        if document.media_type in (PDF, *PICTURES.values())
    }
    return notes | {name: refusal.reason for name, refusal in snapshot.unread_files().items()}


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
        if not _waiting(snapshot, store.settings.get(OCR, DEFAULT)):  # pages may be without a document yet
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

    @property
    def size(self) -> int:
        """None of its file is read before its turn, so the pages of a large file are read side by side."""
        return 0


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
        waiting = _waiting(snapshot, mode, (WAITING, FAULT) if retry else (WAITING,))
    files = [file for file in listing.files if file.document_id in waiting]
    engine = find_engine() if files and mode != "off" else None
    if engine is None:
        return report
    scans = _Scans(store, engine, analyzer)
    remarks = {remark.document_id: remark.text for remark in report.remarks}
    stored: set[str] = set()
    with ParsePool(analyzer.settings(), workers, LIMITS) as pool, closing(scans):
        pages = [page for each in pool.map(_pages_of, files) for page in each]
        on_progress(TASK, 0, len(pages))
        read: dict[int, Recognised] = {}
        for n, (page, result) in enumerate(zip(pages, pool.map(scans.read, pages), strict=True), 1):
            read[page.number] = result
            if page.is_last:
                for document in scans.finish(page, read):
                    stored.add(document.id)
                    remarks[document.id] = document.metadata.get("remark", "")
                read = {}
            on_progress(TASK, n, len(pages))
    added = {*report.added, *(stored & scans.refusals.keys())}
    report = replace(
        report,
        added=tuple(sorted(added)),
        updated=tuple(sorted(stored.union(report.updated) - added)),
        remarks=tuple(DocumentWarning(name, text) for name, text in sorted(remarks.items()) if text),
    )
    with store.snapshot() as snapshot:
        return with_refusals(report, snapshot, listing)


def _waiting(snapshot: Snapshot, mode: str, marks: Sequence[str] = (WAITING,)) -> set[str]:
    """The files with one of these marks, in mode "all" also pictures."""
    waiting = {name for name, note in _notes(snapshot).items() if any(mark in note for mark in marks)}
    return waiting | _pictures(snapshot, mode)


def _pages_of(worker: ParseWorker, file: FoundFile) -> list[ScannedPage]:
    """The pages of a file to read; page 1 of a file that cannot be opened, which then says why."""
    sha256 = ""
    numbers: list[int] = []
    with suppress(DocumentRejected):
        data = read_regular(file.root, file.place)
        sha256 = sha256_of(data)
        answer, _ = worker.ask({"waiting": True}, data)
        numbers = list(map(int, answer.get("waiting", ())))
    numbers = numbers or [1]
    return [ScannedPage(file, sha256, number, number == numbers[-1]) for number in numbers]


class _Scans:
    """Reads pages and stores documents. Several threads may call `read`, one `finish`."""

    def __init__(self, store: Store, engine: Engine, analyzer: Analyzer) -> None:
        self._store = store
        self._engine = engine
        self._pages = PageStore(store.path)
        self._worker = ParseWorker(analyzer.settings(), LIMITS)
        with store.snapshot() as snapshot:
            self.refusals = snapshot.unread_files()

    def close(self) -> None:
        """End the process that parses documents."""
        self._worker.close()

    def read(self, worker: ParseWorker, page: ScannedPage) -> Recognised:
        """The page, stored before or read now; with a fault if it cannot be read."""
        try:
            data = read_regular(page.file.root, page.file.place)
            _, blocks = worker.ask({"page": page.number}, data)
            png = b"".join(blocks)
            key = sha256_of(f"{self._engine} {self._engine.version}".encode() + png)
            recognised = self._pages.get(key)
            if recognised is None:
                answer, _ = worker.ask({"engine": asdict(self._engine)}, png)
                recognised = {**answer, "key": key}
                self._pages.put(key, recognised)
            return recognised
        except DocumentRejected as error:
            return {"fault": str(error)}

    def finish(self, page: ScannedPage, read: Mapping[int, Recognised]) -> Iterator[Document]:
        """Stores what was read of the file of a page: yields its document, or stores why there is none.

        Does nothing for a file that has changed, and for a document that stays as it is.
        """
        file = page.file
        outcome = FileReader(self._store, {}, {}, "", lambda _: read)(self._worker, file)
        refusal = self.refusals.get(file.document_id)
        if outcome.state.sha256 != page.sha256:
            return
        with self._store.writer(LOCK_S) as writer:
            if isinstance(outcome.result, ParsedDocument):
                document = outcome.result.document
                writer.put(document, outcome.result.passages, outcome.result.terms, outcome.state)
                yield document
            elif outcome.result and refusal:
                changed = replace(refusal, kind="rejected", reason=outcome.result.reason)
                writer.put_unread_file(file.document_id, changed)
            writer.commit()
