"""An index on disk: one directory, one writer, any number of readers.

<path>/catalog.sqlite    documents, passages, deletions, settings, the names of the segments
<path>/segments/<id>/    immutable files: postings or vectors of one batch of passages
<path>/cache/<id>/       codes of vectors for large collections, which can be made again
<path>/write.lock        held by the one writer
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType

from spanwise.errors import IndexClosed, IndexCorrupt, IndexNotFound
from spanwise.types import Passage

from .approximation import FROM, RECALL, Report, renewed
from .atomic import make_folder
from .catalog import Catalog
from .code_cache import CACHE, code_names
from .faults import named_faults
from .lock import WriteLock
from .schema import create_catalog
from .segment import open_segment
from .snapshot import Snapshot
from .verify import problems
from .writer import Writer

_CATALOG = "catalog.sqlite"
_MOST_TRIES = 20
_PATIENCE_S = 60.0  # for another writer, when codes that took minutes are to be written


@dataclass(frozen=True, slots=True)
class Commit:
    """Names a commit: its seal, and the file that it lies in; `codes` are those that searches go by."""

    seal: str
    file: tuple[int, ...]
    codes: tuple[str, ...]


class Store:
    """An open index. It reads nothing into memory; `snapshot` and `writer` do the work."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self.path = path
        self._catalog = catalog
        self._file = _file_at(catalog.path)
        self._settings: tuple[Commit, Mapping[str, str]] | None = None
        self._one_at_a_time = Lock()  # of all who use the connection
        self._is_closed = False

    @classmethod
    def create(cls, path: Path, settings: Mapping[str, str]) -> Store:
        """Make an empty index with these settings; `FileExistsError` if there is one at `path`."""
        lock = WriteLock(path / "write.lock")
        with named_faults(path):
            make_folder(path)
            (path / "segments").mkdir(exist_ok=True)  # its name becomes durable with that of the catalog
            lock.acquire()
            try:
                create_catalog(path / _CATALOG, settings)
            finally:
                lock.release()
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """The index at `path`: `IndexNotFound`, `FormatTooNew` or `IndexCorrupt` when it cannot be had."""
        if not (path / _CATALOG).is_file():
            raise IndexNotFound(
                f"no index at {path}, {_CATALOG} is missing: make one with `spanwise index FOLDER`"
            )
        return cls(path, Catalog.open(path / _CATALOG))

    def __enter__(self) -> Store:
        """The store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the catalog; snapshots live on until they are closed themselves. Twice is once."""
        with self._one_at_a_time:
            self._is_closed = True
            self._catalog.close()

    def check_open(self) -> None:
        """IndexClosed after `close`."""
        if self._is_closed:
            raise IndexClosed(f"{self.path} was closed: open it again to use it")

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings as of the last commit, compared with its seal when they were read."""
        commit = self.last_commit()
        if self._settings is None or self._settings[0] != commit:
            self._settings = commit, self._read_settings()
        return self._settings[1]

    def last_commit(self) -> Commit:
        """The last commit: as long as it stays the same, nothing was written, merged or put in its place.

        Cheap, made to be asked before each search; no transaction stays open. Any thread may ask.
        """
        with self._one_at_a_time:
            catalog = self._current()
            return self._commit(catalog)

    def _commit(self, catalog: Catalog) -> Commit:
        return Commit(catalog.seal(), self._file, code_names(self.path / CACHE))

    def passages_of(self, commit: Commit, passage_ids: Sequence[int]) -> list[Passage] | None:
        """These passages of a commit, in order: None when it is not the last one any more or lacks one."""
        with self._one_at_a_time:
            catalog = self._current()
            try:
                catalog.begin()
                found = self._commit(catalog)
                return catalog.passages(passage_ids) if found == commit else None
            except ValueError:
                return None
            finally:
                catalog.rest()

    def snapshot(self) -> Snapshot:
        """The last commit, whole: what is read through it stays the same while writers go on."""
        for _ in range(_MOST_TRIES - 1):
            commit = self.last_commit()
            try:
                return self._snapshot()
            except (FileNotFoundError, IndexCorrupt):
                # A writer may have merged segments away between reading their names and opening them.
                if self.last_commit() == commit:
                    break
        return self._snapshot()

    def writer(self, timeout_s: float = 0.0) -> Writer:
        """A context manager for changes; entering it raises `IndexLocked` when another writer is at work."""
        self.check_open()
        return Writer(self.path, timeout_s)

    def verify(self) -> list[str]:
        """One line for each thing that is not as it was written; reads every byte of the index."""
        return problems(self.path / _CATALOG, self.path / "segments", self.path / CACHE)

    def approximate(
        self, recall: float = RECALL, at_least: int = FROM, report: Report = lambda done, total: None
    ) -> bool:
        """Keep up the compact codes by which large collections are searched; True when some were written.

        `recall` is the share of the exact top 10 to be found. Other writers are only kept out at the end.
        """
        if not 0 < recall < 1:
            raise ValueError(f"recall must be above 0 and below 1, not {recall}; for 1 search exactly")
        with self.snapshot() as snapshot:
            made = {
                model: codes
                for model, n_vectors in sorted(snapshot.vector_models().items())
                if n_vectors >= at_least
                and (codes := renewed(snapshot.stored_vectors(model), snapshot.codes(model), recall, report))
            }
        if made:
            with self.writer(_PATIENCE_S) as writer:
                for model, codes in made.items():
                    writer.put_codes(model, codes)
        return bool(made)

    def _read_settings(self) -> Mapping[str, str]:
        catalog = Catalog.open(self.path / _CATALOG)
        try:
            catalog.begin()
            catalog.state()
            return catalog.settings()
        finally:
            catalog.close()

    def _current(self) -> Catalog:
        """The connection, made anew when another file lies in the place of the one that it reads."""
        self.check_open()
        file = _file_at(self._catalog.path)
        if file != self._file:
            self._catalog.close()
            self._catalog, self._file = Catalog.open(self._catalog.path), file
        return self._catalog

    def _snapshot(self) -> Snapshot:
        catalog = Catalog.open(self.path / _CATALOG)
        try:
            catalog.begin()
            segments = [open_segment(self.path / "segments" / entry.id) for entry in catalog.segments()]
            return Snapshot(catalog, segments)
        except FileNotFoundError as error:
            catalog.close()
            raise IndexCorrupt(f"{error}: delete the index and run `spanwise index FOLDER` again") from None
        except BaseException:
            catalog.close()
            raise


def _file_at(path: Path) -> tuple[int, ...]:
    """What tells a file from another in its place.

    Where nothing can be written, SQLite takes a file for one that nobody changes and looks only once; there
    its size and time, and whether a log lies beside it, tell that somebody else did.
    """
    with named_faults(path):
        status = path.stat()
        if os.access(path.parent, os.W_OK):
            return status.st_dev, status.st_ino
        log = path.with_name(path.name + "-wal").exists()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, int(log)
