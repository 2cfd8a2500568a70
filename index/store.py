"""An index on disk: one directory, one writer, any number of readers.

<path>/catalog.sqlite    documents, passages, deletions, settings, the names of the segments
<path>/segments/<id>/    immutable files: postings, vectors or token vectors of one batch of passages
<path>/cache/<id>/       FAISS indexes of large collections, which can be made again
<path>/write.lock        held by the one writer
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from threading import Lock

from spanwise.errors import IndexClosed, IndexCorrupt, IndexNotFound

from .ann import CACHE, MIN_VECTORS, RECALL, OnProgress, renewed
from .catalog import Catalog
from .files import WriteLock, make_folder, named_errors
from .schema import create_catalog
from .segment import open_segment
from .snapshot import Snapshot
from .verify import problems
from .writer import Writer

CATALOG, SEGMENTS, LOCK = "catalog.sqlite", "segments", "write.lock"
_MAX_TRIES = 20
_LOCK_TIMEOUT_S = 60.0  # for another writer, when codes that took minutes are written


class Store:
    """An open index. It reads nothing into memory; `snapshot` and `writer` do the work."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self.path = path
        self._catalog = catalog
        self._file = _file_at(catalog.path)
        self._settings: tuple[str, Mapping[str, str]] | None = None
        self._connection_lock = Lock()
        self._is_closed = False

    @classmethod
    def create(cls, path: Path, settings: Mapping[str, str]) -> Store:
        """Make an empty index with these settings; `FileExistsError` if there is one at `path`."""
        lock = WriteLock(path / LOCK)
        with named_errors(path):
            make_folder(path)
            (path / SEGMENTS).mkdir(exist_ok=True)  # its name becomes durable with that of the catalog
            lock.acquire()
            try:
                create_catalog(path / CATALOG, settings)
            finally:
                lock.release()
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """The index at `path`; `IndexNotFound`, `FormatTooNew`, `FormatTooOld` or `IndexCorrupt`."""
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
        """The settings of the last commit, compared with its digest when they were read."""
        commit = self.commit_digest()
        if self._settings is None or self._settings[0] != commit:
            self._settings = commit, self._read_settings()
        return self._settings[1]

    def commit_digest(self) -> str:
        """The digest of the last commit: while it stays the same, so do all search results.

        Cheap, meant to be read before each search from any thread. No transaction stays open. It changes with
        each commit, each merge, new codes of an approximate search, and another index in the same place.
        """
        with self._connection_lock:
            parts = [self._current().read_digest(), self._file, _names_in(self.path / CACHE)]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()

    def snapshot(self) -> Snapshot:
        """The last commit: its contents stay the same while writers go on."""
        for _ in range(_MAX_TRIES - 1):
            commit = self.commit_digest()
            try:
                return self._snapshot()
            except (FileNotFoundError, IndexCorrupt):
                # A writer may have merged segments away between reading their names and opening them.
                if self.commit_digest() == commit:
                    break
        return self._snapshot()

    def writer(self, timeout_s: float = 0.0) -> Writer:
        """A context manager for changes; entering it raises `IndexLocked` while another writer works."""
        self.check_open()
        return Writer(self.path, timeout_s)

    def verify(self) -> list[str]:
        """One line for each damaged thing; reads every byte of the index."""
        return problems(self.path / CATALOG, self.path / SEGMENTS, self.path / CACHE)

    def approximate(
        self,
        recall: float = RECALL,
        at_least: int = MIN_VECTORS,
        on_progress: OnProgress = lambda done, total: None,
    ) -> bool:
        """Bring the FAISS indexes of collections of `at_least` vectors up to date; True when one was written.

        `recall` is the required share of the exact top 10. Other writers are locked out only at the end.
        """
        if not 0 < recall < 1:
            raise ValueError(f"recall must be above 0 and below 1, not {recall}; for 1 search exactly")
        with self.snapshot() as snapshot:
            made = {
                model: codes
                for model, n_vectors in sorted(snapshot.vector_models().items())
                if n_vectors >= at_least
                and (
                    codes := renewed(
                        snapshot.stored_vectors(model), snapshot.codes(model), recall, on_progress
                    )
                )
            }
        if made:
            with self.writer(_LOCK_TIMEOUT_S) as writer:
                for model, codes in made.items():
                    writer.put_codes(model, codes)
        return bool(made)

    def _read_settings(self) -> Mapping[str, str]:
        with closing(Catalog.open(self.path / CATALOG)) as catalog:
            catalog.begin()
            catalog.state()
            return catalog.settings

    def _current(self) -> Catalog:
        """The connection, opened again when another file lies in the place of the catalog."""
        self.check_open()
        file = _file_at(self._catalog.path)
        if file != self._file:
            self._catalog.close()
            self._catalog, self._file = Catalog.open(self._catalog.path), file
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

    Where nothing can be written, SQLite takes a file for one that does not change and looks only once; there
    its size and time, and whether it has a log, show a change.
    """
    with named_errors(path):
        status = path.stat()
        if os.access(path.parent, os.W_OK):
            return status.st_dev, status.st_ino
        log = path.with_name(path.name + "-wal").exists()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, int(log)


def _names_in(folder: Path) -> list[str]:
    """The names of codes, each a digest of its content: while they stay, so do search results."""
    found = folder.iterdir() if folder.is_dir() and not folder.is_symlink() else ()
    return sorted(path.name for path in found)
