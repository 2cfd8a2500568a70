"""An index on disk: one directory, one writer, any number of readers.

<path>/catalog.sqlite    documents, passages, deletions, settings, the names of the segments
<path>/segments/<id>/    immutable files: postings or vectors of one batch of passages
<path>/write.lock        held by the one writer
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from spanwise.errors import IndexCorrupt, IndexNotFound

from .atomic import sync_directory
from .catalog import Catalog
from .faults import named_faults
from .lock import WriteLock
from .schema import create_catalog
from .segment import open_segment
from .snapshot import Snapshot
from .verify import problems
from .writer import Writer

_CATALOG = "catalog.sqlite"
_MOST_TRIES = 20


class Store:
    """An open index. It reads nothing into memory; `snapshot` and `writer` do the work."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self.path = path
        self._catalog = catalog

    @classmethod
    def create(cls, path: Path, settings: Mapping[str, str]) -> Store:
        """Make an empty index with these settings; `FileExistsError` if there is one at `path`."""
        lock = WriteLock(path / "write.lock")
        with named_faults(path):
            (path / "segments").mkdir(parents=True, exist_ok=True)
            lock.acquire()
            try:
                create_catalog(path / _CATALOG, settings)
            finally:
                lock.release()
            sync_directory(path.parent)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """The index at `path`: `IndexNotFound`, `FormatTooNew` or `IndexCorrupt` when it cannot be had."""
        if not (path / _CATALOG).is_file():
            raise IndexNotFound(f"no index at {path}: make one with `spanwise index FOLDER`")
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
        """Let go of the catalog; snapshots live on until they are closed themselves."""
        self._catalog.close()

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings as of the last commit, compared with its seal."""
        catalog = Catalog.open(self.path / _CATALOG)
        try:
            catalog.begin()
            catalog.state()
            return catalog.settings()
        finally:
            catalog.close()

    def snapshot(self) -> Snapshot:
        """The last commit, whole: what is read through it stays the same while writers go on."""
        for _ in range(_MOST_TRIES - 1):
            seal = self._catalog.seal()
            try:
                return self._snapshot()
            except (FileNotFoundError, IndexCorrupt):
                # A writer may have merged segments away between reading their names and opening them.
                if self._catalog.seal() == seal:
                    break
        return self._snapshot()

    def writer(self, timeout_s: float = 0.0) -> Writer:
        """A context manager for changes; entering it raises `IndexLocked` when another writer is at work."""
        return Writer(self.path, timeout_s)

    def verify(self) -> list[str]:
        """One line for each thing that is not as it was written; reads every byte of the index."""
        return problems(self.path / _CATALOG, self.path / "segments")

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
