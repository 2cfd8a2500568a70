"""An index on disk: one directory, one writer, any number of readers.

<path>/catalog.sqlite    documents, passages, deletions, settings, the names of the segments
<path>/segments/<id>/    immutable files: postings, vectors or token vectors of one batch of passages
<path>/cache/<id>/       FAISS indexes of large collections, which can be rebuilt
<path>/write.lock        held by the one writer
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import groupby
from pathlib import Path
from threading import Lock

import numpy as np

from spanwise.errors import IndexClosed, IndexCorrupt, IndexNotFound, SpanwiseError
from spanwise.options import ProgressCallback, no_progress

from .ann import CACHE, MIN_VECTORS, code_problems, renewed
from .catalog import Catalog
from .files import CATALOG, LOCK, SEGMENTS, OnWait, WriteLock, make_folder, named_errors, sha256_of
from .maxsim.tokens import token_problems
from .protocol import Ids
from .schema import SegmentEntry, create_catalog
from .segment import POSTINGS, Segment, open_segment
from .snapshot import Snapshot
from .writer import Writer

_MAX_TRIES = 20
_WAIT_S = 600.0  # for another writer, where somebody is told
_LOCK_TIMEOUT_S = 60.0  # codes take minutes to make, so writing them waits for another writer


class Store:
    """An open index. It holds no data in memory; `snapshot` reads and `writer` writes.

    on_wait: gets the id of the process that a writer waits for; with None a writer does not wait
    """

    on_wait: OnWait | None = None

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self.path = path
        self._catalog = catalog
        self._file = _file_at(catalog.path)
        self._settings: tuple[str, Mapping[str, str]] | None = None
        self._connection_lock = Lock()
        self._is_closed = False

    @classmethod
    def create(cls, path: Path, settings: Mapping[str, str]) -> Store:
        """Create an empty index with these settings. Raise `FileExistsError` if there is one at `path`."""
        lock = WriteLock(path / LOCK)
        with named_errors(path):
            make_folder(path)
            (path / SEGMENTS).mkdir(exist_ok=True)  # publishing the catalog makes this name durable too
            lock.acquire()
            try:
                create_catalog(path / CATALOG, settings)
            finally:
                lock.release()
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """The index at `path`. Raise `IndexNotFound`, `FormatTooNew`, `FormatTooOld` or `IndexCorrupt`."""
        if not (path / CATALOG).is_file():
            raise IndexNotFound(
                f"no index at {path}, {CATALOG} is missing: make one with `spanwise index FOLDER`"
            )
        return cls(path, Catalog.open(path / CATALOG))

    def __enter__(self) -> Store:
        """The store itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the catalog. Open snapshots stay valid. Idempotent."""
        with self._connection_lock:
            self._is_closed = True
            self._catalog.close()

    def check_open(self) -> None:
        """Raise `IndexClosed` after `close`."""
        if self._is_closed:
            raise IndexClosed(f"{self.path} was closed: open it again to use it")

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the last commit, verified against its digest when they are read."""
        commit = self.commit_digest()
        if self._settings is None or self._settings[0] != commit:
            with closing(Catalog.open(self.path / CATALOG)) as catalog:
                catalog.begin()
                catalog.state()
                self._settings = commit, catalog.settings
        return self._settings[1]

    def commit_digest(self) -> str:
        """The digest of the last commit; while it stays the same, all search results do.

        Reading it is cheap: any thread may read it before each search. No transaction stays open. It changes
        with each commit, each merge, new codes of an approximate search, and another index in the same place.
        """
        with self._connection_lock:
            parts = [self._current().read_digest(), self._file, _names_in(self.path / CACHE)]
        return sha256_of(json.dumps(parts).encode("ascii"))

    def snapshot(self) -> Snapshot:
        """The last commit, unchanged by writers that go on."""
        for _ in range(_MAX_TRIES - 1):
            commit = self.commit_digest()
            try:
                return self._snapshot()
            except (FileNotFoundError, IndexCorrupt):
                # A writer may have merged segments away after their names were read.
                if self.commit_digest() == commit:
                    break
        return self._snapshot()

    def writer(self, timeout_s: float = 0.0) -> Writer:
        """A context manager for changes. Entering it raises `IndexLocked` while another writer works.

        With `on_wait` it waits for the other one, ten minutes at most.
        """
        self.check_open()
        return Writer(self.path, _WAIT_S if self.on_wait else timeout_s, self.on_wait)

    def change(self, apply: Callable[[Writer], None]) -> None:
        """Commit what `apply` changes."""
        with self.writer() as writer:
            apply(writer)
            writer.commit()

    def verify(self) -> list[str]:
        """One line per problem; reads every byte of the index."""
        try:
            catalog = Catalog.open(self.path / CATALOG)
        except (SpanwiseError, OSError) as error:
            return [str(error)]
        with closing(catalog):
            segment_problems = _segment_problems(catalog, self.path / SEGMENTS)
            return [*_catalog_problems(catalog), *segment_problems, *code_problems(self.path / CACHE)]

    def approximate(self, at_least: int = MIN_VECTORS, on_progress: ProgressCallback = no_progress) -> bool:
        """Update the FAISS index of each model with `at_least` vectors; True when one was written.

        Other writers are locked out only at the end.
        """
        new_codes = {}
        with self.snapshot() as snapshot:
            for model, n_vectors in sorted(snapshot.vector_models().items()):
                if n_vectors >= at_least:
                    stored = snapshot.stored_vectors(model)
                    codes = renewed(stored, snapshot.codes(model), on_progress)
                    if codes is not None:
                        new_codes[model] = codes
        if new_codes:
            with self.writer(_LOCK_TIMEOUT_S) as writer:
                for model, codes in new_codes.items():
                    writer.put_codes(model, codes)
        return bool(new_codes)

    def _current(self) -> Catalog:
        """The connection, reopened when another file has taken the place of the catalog."""
        self.check_open()
        file = _file_at(self._catalog.path)
        if file != self._file:
            self._catalog.close()
            self._catalog = Catalog.open(self._catalog.path)
            self._file = file
        return self._catalog

    def _snapshot(self) -> Snapshot:
        snapshot = Snapshot.open(self.path / CATALOG)
        try:
            snapshot.begin()
            names = [entry.id for entry in snapshot.segments()]
            snapshot.read([open_segment(self.path / SEGMENTS / name) for name in names])
        except FileNotFoundError as error:
            snapshot.close()
            raise IndexCorrupt(f"{error}: delete the index and run `spanwise index FOLDER` again") from None
        except BaseException:
            snapshot.close()
            raise
        return snapshot


def _file_at(path: Path) -> tuple[int, ...]:
    """The identity of a file, to detect another one in its place.

    In a read-only folder SQLite assumes that the file never changes. There the identity includes size, time
    and whether a log exists.
    """
    with named_errors(path):
        status = path.stat()
        if os.access(path.parent, os.W_OK):
            return status.st_dev, status.st_ino
        log = path.with_name(path.name + "-wal").exists()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, int(log)


def _names_in(folder: Path) -> list[str]:
    """The names of codes in a folder, sorted; each is a digest of the content."""
    paths = folder.iterdir() if folder.is_dir() and not folder.is_symlink() else ()
    return sorted(path.name for path in paths)


def _catalog_problems(catalog: Catalog) -> Iterator[str]:
    """SQLite's own checks, the digest of the commit, the counts, and the digest of every row."""
    try:
        catalog.begin()
        for row in catalog.rows("PRAGMA integrity_check"):
            if row["integrity_check"] != "ok":
                yield f"{catalog.path}: {row['integrity_check']}"
        state = catalog.state()
        documents = list(catalog.files())
        n_passages = len(catalog.passage_ids())
        if (len(documents), n_passages) != (state.n_documents, state.n_passages):
            yield (
                f"{catalog.path} holds {len(documents)} documents and {n_passages} passages, "
                f"the last commit has {state.n_documents} and {state.n_passages}"
            )
        yield from _row_problems(catalog, documents)
        catalog.unread_files()
    except SpanwiseError as error:
        yield str(error)


def _row_problems(catalog: Catalog, documents: list[str]) -> Iterator[str]:
    for document_id in documents:
        try:
            catalog.document(document_id)
        except SpanwiseError as error:
            yield str(error)
    rows = catalog.rows("SELECT id, document_id FROM passages ORDER BY document_id, start")
    for _, group in groupby(rows, key=lambda row: str(row["document_id"])):
        try:
            catalog.passages([row["id"] for row in group])
        except SpanwiseError as error:
            yield str(error)


def _segment_problems(catalog: Catalog, folder: Path) -> Iterator[str]:
    """The digest of every file, and whether the segments hold the rows that the catalog lists."""
    try:
        live = np.sort(catalog.passage_ids())
        deleted = catalog.deleted()
        entries = catalog.segments()
    except SpanwiseError as error:
        yield str(error)
        return
    held: dict[tuple[str, str], list[Ids]] = {(POSTINGS, ""): []}
    intact: list[Segment] = []
    for entry in entries:
        try:
            segment = open_segment(folder / entry.id)
            segment.check_file()
            actual = SegmentEntry(entry.id, segment.kind, segment.model, len(segment.passage_ids))
            if actual != entry:
                raise SpanwiseError(f"{segment.path} is {actual}, the catalog lists {entry}")
        except (SpanwiseError, OSError) as error:
            yield str(error)
        else:
            held.setdefault((entry.kind, entry.model), []).append(segment.passage_ids)
            intact.append(segment)
    yield from token_problems(folder, intact)
    for (kind, model), parts in held.items():
        ids = np.sort(np.concatenate([deleted[:0], *parts]))
        ids = ids[np.isin(ids, deleted, invert=True)]
        expected = live if kind == POSTINGS else live[np.isin(live, ids)]
        if not np.array_equal(ids, expected):
            yield f"{folder}: the {kind} {model} are not those of the live passages, each once"
