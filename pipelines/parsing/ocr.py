"""OCR: an engine reads the pictures of pages that have no text, after the words of all files are stored.

A page is kept when it is read, below `ocr/` in the index, under the digest of its picture and of the engine.
So nothing that was read is read again. A document is replaced once, when all its pages are read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from spanwise.errors import DocumentRejected
from spanwise.types import DocumentWarning, ProgressCallback, RejectedFile, SyncReport

from ...corpora.folder import FoundFile, Listing, read_regular
from ...corpora.readers.pdf import WAITING
from ...corpora.readers.scan import FAULT, Engine, RecognisedPage, find_engine
from ...corpora.reading import SkippedFile
from ...index.analysis import Analyzer
from ...index.files import make_folder, named_errors, publish, write_file
from ...index.schema import FileState, UnreadFile
from ...index.shards import is_sharded, shard_folders
from ...index.snapshot import Snapshot
from ...index.store import Store
from .pool import ParsePool, ParseWorker
from .sync import suffix_of, sync_words
from .worker import Limits

OcrMode = Literal["off", "pdf", "all"]
"""No file, PDFs, or pictures too."""

SETTING = "ocr"
DEFAULT: OcrMode = "pdf"
FOLDER = "ocr"
LIMITS = Limits(memory_bytes=2 * 2**30, cpu_s=60, wall_s=60.0)
LOCK_S = 60.0  # to wait for another writer
TASK = "scans"  # of progress
PICTURE_SUFFIXES = {".png", ".jpg", ".jpeg", ".tif", ".tiff"}
N_WAITING = re.compile(WAITING + r": ([0-9]{1,6}) page")
PAGE_KEY = re.compile(r"(?:^|, )([0-9]{1,6}) [0-9.]{1,6} ([0-9a-f]{64})")


def n_waiting(snapshot: Snapshot) -> int:
    """The number of pages that wait for OCR."""
    return sum(int(match[1]) for note in _notes(snapshot).values() for match in N_WAITING.finditer(note))


def _notes(snapshot: Snapshot) -> dict[str, str]:
    """The remark on each document, and the reason of each refusal."""
    notes = {document.id: document.metadata.get("remark", "") for document in snapshot.descriptions()}
    return notes | {name: refusal.reason for name, refusal in snapshot.unread_files().items()}


class PageStore:
    """The recognised pages of an index, a file for each. Threads and processes may share it."""

    def __init__(self, index: Path) -> None:
        self._folder = index / FOLDER

    def get(self, key: str) -> RecognisedPage | None:
        """The page under a key; None without one, or for a damaged file, which is deleted."""
        path = self._path(key)
        try:
            digest, _, content = path.read_bytes().partition(b"\n")
            if digest.decode("ascii") == hashlib.sha256(content).hexdigest():
                return RecognisedPage.checked(json.loads(content))
            path.unlink(missing_ok=True)
        except FileNotFoundError:
            pass
        except ValueError:
            path.unlink(missing_ok=True)
        return None

    def put(self, page: RecognisedPage) -> None:
        """Keep a page under its key; it is durable on return."""
        content = json.dumps(asdict(page)).encode()
        path = self._path(page.key)
        temporary = path.with_name(f"{uuid4().hex}.new")
        with named_errors(path):
            make_folder(path.parent)
            write_file(temporary, [hashlib.sha256(content).hexdigest().encode(), b"\n", content])
            publish(temporary, path)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def recognised_page(index: Path, metadata: Mapping[str, str], number: int) -> RecognisedPage | None:
    """A page of a document as an engine read it; None for a page with text, or if it is not kept any more."""
    keys = {int(page): key for page, key in PAGE_KEY.findall(metadata.get(SETTING, ""))}
    stores = map(PageStore, shard_folders(index) if is_sharded(index) else [index])
    pages = (store.get(keys[number]) for store in stores) if number in keys else iter(())
    return next((page for page in pages if page), None)


def use_ocr(store: Store, mode: OcrMode) -> None:
    """Store what is recognised from the next sync on."""
    if store.settings.get(SETTING, DEFAULT) != mode:
        store.change(lambda writer: writer.set(SETTING, mode))


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
    return read_scans(store, listing, analyzer, report, on_progress, workers, retry) if ocr else report


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """A page to read: its file with its digest, its number, and whether it is the last one of the file."""

    file: FoundFile
    sha256: str
    number: int
    is_last: bool

    @property
    def size(self) -> int:
        """The bytes of its file, which one process after another gets for a page."""
        return self.file.size


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
    files = _waiting_files(store, listing, retry)
    engine = find_engine() if files else None
    if engine is None:
        return report
    scans = _Scans(store, engine, analyzer)
    with ParsePool(analyzer.settings(), workers, LIMITS) as pool, closing(scans):
        pages = [page for each in pool.map(_pages_of, files) for page in each]
        on_progress(TASK, 0, len(pages))
        read: dict[int, RecognisedPage] = {}
        for n, (page, result) in enumerate(zip(pages, pool.map(scans.read, pages), strict=True), 1):
            read[page.number] = result
            if page.is_last:
                report = scans.finish(page, read, report)
                read = {}
            on_progress(TASK, n, len(pages))
    return report


def _waiting_files(store: Store, listing: Listing, retry: bool) -> list[FoundFile]:
    """The files with pages that wait, or with pages that could not be read if `retry`."""
    mode = store.settings.get(SETTING, DEFAULT)
    if mode == "off":
        return []
    marks = (WAITING, FAULT) if retry else (WAITING,)
    with store.snapshot() as snapshot:
        notes = _notes(snapshot)
        refusals = snapshot.unread_files()
    waiting = {name for name, note in notes.items() if any(mark in note for mark in marks)}
    if mode == "all":
        skipped = (name for name, refusal in refusals.items() if refusal.kind == "skipped")
        waiting |= {name for name in skipped if suffix_of(name) in PICTURE_SUFFIXES}
    return [file for file in listing.files if file.document_id in waiting]


def _pages_of(worker: ParseWorker, file: FoundFile) -> list[ScannedPage]:
    """The pages of a file to read; page 1 of a file that cannot be opened, which then says why."""
    sha256 = ""
    numbers: list[int] = []
    with suppress(DocumentRejected):
        data = read_regular(file.root, file.place)
        sha256 = hashlib.sha256(data).hexdigest()
        numbers = worker.waiting_pages(data)
    numbers = numbers or [1]
    return [ScannedPage(file, sha256, number, number == numbers[-1]) for number in numbers]


class _Scans:
    """Reads pages and stores documents. Several threads may call `read`, one `finish`."""

    def __init__(self, store: Store, engine: Engine, analyzer: Analyzer) -> None:
        self._store = store
        self._engine = engine
        self._pages = PageStore(store.path)
        self._worker = ParseWorker(analyzer.settings(), LIMITS)

    def close(self) -> None:
        """End the process that parses documents."""
        self._worker.close()

    def read(self, worker: ParseWorker, page: ScannedPage) -> RecognisedPage:
        """The page, stored before or read now; with a fault if it cannot be read."""
        try:
            data = read_regular(page.file.root, page.file.place)
            picture = worker.picture(data, page.number)
            head = f"{picture.width} {picture.height} {picture.dpi} {self._engine.digest} "
            key = hashlib.sha256(head.encode() + picture.pixels).hexdigest()
            known = self._pages.get(key)
            if known is not None:
                return known
            read = worker.recognise(self._engine, picture, key)
            self._pages.put(read)
            return read
        except DocumentRejected as error:
            return RecognisedPage(0.0, 0.0, 0.0, 0.0, (), fault=str(error))

    def finish(self, page: ScannedPage, read: Mapping[int, RecognisedPage], report: SyncReport) -> SyncReport:
        """Store the document of the file of a page with all its pages; returns the report with it."""
        file = page.file
        name = file.document_id
        with self._store.snapshot() as snapshot:
            refusal = snapshot.unread_files().get(name)
        try:
            data = read_regular(file.root, file.place)
            if hashlib.sha256(data).hexdigest() != page.sha256:
                return report  # the next sync reads what it is now
            result = self._worker.parse(data, name, page.sha256, recognised=read)
            if isinstance(result, SkippedFile):
                raise DocumentRejected(result.reason)
        except DocumentRejected as error:
            return self._refuse(name, str(error), refusal, report)
        state = FileState(file.size, file.mtime_ns, page.sha256, file.stamp)
        with self._store.writer(LOCK_S) as writer:
            writer.put(result.document, result.passages, result.terms, state)
            writer.commit()
        with self._store.snapshot() as snapshot:
            report = replace(_without(report, name, refusal), passages=snapshot.n_passages)
        remark = result.document.metadata.get("remark", "")
        remarks = [*report.remarks, *([DocumentWarning(name, remark)] if remark else [])]
        is_new = refusal is not None or name in report.added
        report = replace(report, remarks=tuple(sorted(remarks, key=_document_id)))
        if is_new:
            return replace(report, added=tuple(sorted({*report.added, name})))
        return replace(report, updated=tuple(sorted({*report.updated, name})))

    def _refuse(self, name: str, reason: str, before: UnreadFile | None, report: SyncReport) -> SyncReport:
        if before is None:
            return report
        refusal = replace(before, kind="rejected", reason=reason)
        with self._store.writer(LOCK_S) as writer:
            writer.put_unread_file(name, refusal)
            writer.commit()
        report = _without(report, name, before)
        rejected = sorted([*report.rejected, RejectedFile(name, reason)], key=_document_id)
        return replace(report, rejected=tuple(rejected))


def _document_id(entry: RejectedFile | DocumentWarning) -> str:
    return entry.document_id


def _without(report: SyncReport, name: str, refusal: UnreadFile | None) -> SyncReport:
    """The report without a file, which it counts as refused, as unchanged, or as changed with remarks."""
    if refusal is None:
        is_changed = name in (*report.added, *report.updated)
        remarks = tuple(remark for remark in report.remarks if remark.document_id != name)
        return replace(report, remarks=remarks, unchanged=report.unchanged - (not is_changed))
    if refusal.kind == "rejected":
        return replace(report, rejected=tuple(each for each in report.rejected if each.document_id != name))
    skipped = Counter(report.skipped)
    skipped[refusal.reason] -= 1
    return replace(report, skipped=dict(+skipped))
