"""OCR: an engine reads the pictures of pages that have no text, after the words of all files are stored.

A page is kept when it is read, below `ocr/` in the index, under the digest of its picture and of the engine.
So nothing that was read is read again. A document is replaced once, when all its pages are read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from spanwise.errors import DocumentRejected
from spanwise.types import Document, DocumentWarning, ProgressCallback, RejectedFile, SyncReport

from ...corpora.folder import FoundFile, Listing, read_regular
from ...corpora.readers.pdf import MEDIA_TYPE as PDF, WAITING
from ...corpora.readers.scan import FAULT, PICTURES, Engine, find_engine
from ...corpora.reading import SkippedFile
from ...index.analysis import Analyzer
from ...index.files import make_folder, named_errors, publish, write_file
from ...index.schema import FileState, UnreadFile
from ...index.shards import is_sharded, shard_folders
from ...index.snapshot import Snapshot
from ...index.store import Store
from .pool import ParsePool, ParseWorker, Recognised
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
    """The remark on each PDF and picture, and the reason of each refusal."""
    notes = {
        document.id: document.metadata.get("remark", "")
        for document in snapshot.descriptions()
        if document.media_type in (PDF, *PICTURES.values())
    }
    return notes | {name: refusal.reason for name, refusal in snapshot.unread_files().items()}


class PageStore:
    """The recognised pages of an index, a file for each. Threads and processes may share it."""

    def __init__(self, index: Path) -> None:
        self._folder = index / FOLDER

    def get(self, key: str) -> Recognised | None:
        """The page under a key; None without one, or for a damaged file, which is deleted."""
        path = self._path(key)
        with suppress(FileNotFoundError):
            digest, _, content = path.read_bytes().partition(b"\n")
            if digest == hashlib.sha256(content).hexdigest().encode():
                page: Recognised = json.loads(content)
                return page
            path.unlink()
        return None

    def put(self, key: str, page: Recognised) -> None:
        """Keep a page under its key; it is durable on return."""
        content = json.dumps(page).encode()
        path = self._path(key)
        temporary = path.with_name(f"{uuid4().hex}.new")
        with named_errors(path):
            make_folder(path.parent)
            write_file(temporary, [hashlib.sha256(content).hexdigest().encode(), b"\n", content])
            publish(temporary, path)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def recognised_page(index: Path, metadata: Mapping[str, str], number: int) -> Recognised | None:
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
    files = _waiting_files(store, listing, retry)
    engine = find_engine() if files else None
    if engine is None:
        return report
    scans = _Scans(store, engine, analyzer)
    results: list[Document | RejectedFile] = []
    with ParsePool(analyzer.settings(), workers, LIMITS) as pool, closing(scans):
        pages = [page for each in pool.map(_pages_of, files) for page in each]
        on_progress(TASK, 0, len(pages))
        read: dict[int, Recognised] = {}
        for n, (page, result) in enumerate(zip(pages, pool.map(scans.read, pages), strict=True), 1):
            read[page.number] = result
            if page.is_last:
                results += scans.finish(page, read)
                read = {}
            on_progress(TASK, n, len(pages))
    with store.snapshot() as snapshot:
        return _merged(replace(report, passages=snapshot.n_passages), results, scans.refusals)


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
            picture, blocks = worker.ask({"page": page.number}, data)
            pixels = b"".join(blocks)
            head = json.dumps([picture, self._engine.digest], sort_keys=True)
            key = hashlib.sha256(head.encode() + pixels).hexdigest()
            known = self._pages.get(key)
            if known is not None:
                return known
            request = {"engine": asdict(self._engine), "picture": picture}
            answer, _ = worker.ask(request, pixels)
            self._pages.put(key, {**answer, "key": key})
            return {**answer, "key": key}
        except DocumentRejected as error:
            return {"fault": str(error)}

    def finish(self, page: ScannedPage, read: Mapping[int, Recognised]) -> Iterator[Document | RejectedFile]:
        """Stores what was read of the file of a page: a document, or the reason why there is none.

        Yields nothing for a file that has changed, and for a document that stays as it is.
        """
        file = page.file
        name = file.document_id
        state = FileState(file.size, file.mtime_ns, page.sha256, file.stamp)
        try:
            data = read_regular(file.root, file.place)
            if hashlib.sha256(data).hexdigest() != page.sha256:
                return
            parsed = self._worker.parse(data, name, page.sha256, recognised=read)
            if isinstance(parsed, SkippedFile):
                raise DocumentRejected(parsed.reason)
            with self._store.writer(LOCK_S) as writer:
                writer.put(parsed.document, parsed.passages, parsed.terms, state)
                writer.commit()
            yield parsed.document
        except DocumentRejected as error:
            if name in self.refusals:
                refusal = replace(self.refusals[name], kind="rejected", reason=str(error))
                with self._store.writer(LOCK_S) as writer:
                    writer.put_unread_file(name, refusal)
                    writer.commit()
                yield RejectedFile(name, str(error))


def _merged(
    report: SyncReport, results: Iterable[Document | RejectedFile], refusals: Mapping[str, UnreadFile]
) -> SyncReport:
    """The report with the files that were read after it, some of which it counts as refused."""
    read = {each.id: each.metadata.get("remark", "") for each in results if isinstance(each, Document)}
    rejected = {each.document_id: each for each in report.rejected if each.document_id not in read}
    rejected |= {each.document_id: each for each in results if isinstance(each, RejectedFile)}
    skipped = Counter(report.skipped)
    skipped.subtract(refusals[name].reason for name in {*read, *rejected} & refusals.keys())
    remarks = {each.document_id: each.text for each in report.remarks} | read
    added = {*report.added, *(read.keys() & refusals.keys())}
    updated = {*report.updated, *(read.keys() - added)}
    skipped = Counter({reason: n for reason, n in skipped.items() if n > 0})
    return replace(
        report,
        added=tuple(sorted(added)),
        updated=tuple(sorted(updated)),
        unchanged=report.found - len(added) - len(updated) - len(rejected) - skipped.total(),
        rejected=tuple(rejected[name] for name in sorted(rejected)),
        skipped=dict(skipped),
        remarks=tuple(DocumentWarning(name, text) for name, text in sorted(remarks.items()) if text),
    )
