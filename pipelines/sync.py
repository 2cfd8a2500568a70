"""Sync: the index becomes what the folder is. New, changed and removed files, then missing vectors.

A file whose size and time are those of the index is taken as unchanged; otherwise its digest decides.
Words are committed before vectors, so that lexical search is ready first; vectors are committed batch
by batch, so that an interrupted encoding goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected
from spanwise.types import Rejection, SyncReport

from ..corpora.folder import FoundFile, walk
from ..corpora.opening import read_regular
from ..corpora.passages import split
from ..corpora.reading import Skipped, parse
from ..index.analysis import Analyzer
from ..index.rows import FileState, indexed_text
from ..index.store import Store
from ..index.writer import Writer

if TYPE_CHECKING:
    from ..models.encoder import TextEncoder

PASSAGES_PER_COMMIT = 20_000
VECTORS_PER_COMMIT = 2_048

Report = Callable[[str, int, int], None]
"""Hears (stage, done, total) while work goes on; stages are "read" and "encode"."""


def silent(stage: str, done: int, total: int) -> None:
    """Reports nothing."""


@dataclass
class _Tally:
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0


def sync_words(store: Store, root: Path, analyzer: Analyzer, report: Report = silent) -> SyncReport:
    """Adds, updates and removes what changed, for lexical search; one bad file stops nothing."""
    started = time.monotonic()
    tally = _Tally()
    with store.writer() as writer:
        with store.snapshot() as snapshot:
            known = snapshot.files()
        found = _found_files(root, tally)
        _Reading(root, writer, analyzer, known, tally).read_all(found, report)
        for gone in sorted(set(known) - {file.document_id for file in found}):
            writer.remove(gone)
            tally.deleted.append(gone)
        writer.commit()
    with store.snapshot() as snapshot:
        return _sync_report(tally, snapshot.n_passages, time.monotonic() - started)


def sync_vectors(store: Store, encoder: TextEncoder, report: Report = silent) -> int:
    """Encodes the passages that have no vector of this model yet; returns how many there were."""
    with store.snapshot() as snapshot:
        missing = snapshot.without_vectors(encoder.digest)
    if not len(missing):
        return 0
    with store.writer() as writer:
        for at in range(0, len(missing), VECTORS_PER_COMMIT):
            batch = missing[at : at + VECTORS_PER_COMMIT].tolist()
            with store.snapshot() as snapshot:
                texts = [indexed_text(passage) for passage in snapshot.passages(batch)]
            vectors = encoder.encode(texts, _counted_on(report, at, len(missing)))
            writer.put_vectors(encoder.digest, batch, vectors)
            writer.commit()
    return len(missing)


def _counted_on(report: Report, before: int, total: int) -> Callable[[int], None]:
    return lambda done: report("encode", before + done, total)


class _Reading:
    """Reads the found files into a writer, committing as it goes."""

    def __init__(
        self, root: Path, writer: Writer, analyzer: Analyzer, known: dict[str, FileState], tally: _Tally
    ) -> None:
        self.root, self.writer, self.analyzer, self.known, self.tally = root, writer, analyzer, known, tally
        self.staged = 0

    def read_all(self, found: Sequence[FoundFile], report: Report) -> None:
        for i, file in enumerate(found):
            self._one(file)
            if self.staged >= PASSAGES_PER_COMMIT:
                self.writer.commit()
                self.staged = 0
            report("read", i + 1, len(found))

    def _one(self, file: FoundFile) -> None:
        before = self.known.get(file.document_id)
        if before is not None and (before.size, before.mtime_ns) == (file.size, file.mtime_ns):
            self.tally.unchanged += 1
            return
        try:
            data = read_regular(file.root, file.place)
            state = FileState(file.size, file.mtime_ns, hashlib.sha256(data).hexdigest())
            if before is not None and before.sha256 == state.sha256:
                self.writer.touch(file.document_id, state)
                self.tally.unchanged += 1
            else:
                self._put(file, data, state, before)
        except DocumentRejected as error:
            self._drop(file, before)
            self.tally.rejected.append(Rejection(file.document_id, str(error)))

    def _put(self, file: FoundFile, data: bytes, state: FileState, before: FileState | None) -> None:
        document = parse(data, file.document_id)
        if isinstance(document, Skipped):
            self._drop(file, before)
            self.tally.skipped[document.reason] += 1
            return
        passages = split(document)
        terms = [self.analyzer.terms(indexed_text(passage)) for passage in passages]
        self.writer.put(document, passages, terms, state)
        self.staged += len(passages)
        (self.tally.added if before is None else self.tally.updated).append(file.document_id)

    def _drop(self, file: FoundFile, before: FileState | None) -> None:
        if before is not None:  # what the index holds is no longer what the file says
            self.writer.remove(file.document_id)
            self.tally.deleted.append(file.document_id)


def _found_files(root: Path, tally: _Tally) -> list[FoundFile]:
    listing = walk(root)
    tally.rejected += listing.rejected
    tally.skipped.update(listing.skipped)
    return list(listing.files)


def _sync_report(tally: _Tally, passages: int, seconds: float) -> SyncReport:
    return SyncReport(
        added=tuple(sorted(tally.added)),
        updated=tuple(sorted(tally.updated)),
        deleted=tuple(sorted(tally.deleted)),
        unchanged=tally.unchanged,
        rejected=tuple(sorted(tally.rejected, key=lambda r: r.document_id)),
        skipped=dict(sorted(tally.skipped.items())),
        passages=passages,
        seconds=round(seconds, 3),
    )
