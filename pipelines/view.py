"""The last commit of an index, with everything built to search it.

The last commit is looked up before each use. While it stays the same, its retrievers are used again. Between
two uses no transaction is open, so that an idle library holds up neither writers nor SQLite's log. One thread
searches at a time; the others wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from ..index.analysis import Analyzer
from ..index.snapshot import Snapshot
from ..index.store import Commit, Store

if TYPE_CHECKING:
    from spanwise.types import Filter

    from ..retrieval.encoders import Encoders
    from ..retrieval.protocol import Retriever
    from .filters import Selection


class IndexView:
    """A commit, its snapshot, and the retrievers over it, each built once."""

    def __init__(self, commit: Commit, snapshot: Snapshot) -> None:
        self.commit, self.snapshot = commit, snapshot
        self.is_held = False
        self._retrievers: dict[tuple[object, ...], Retriever] = {}
        self._selected: tuple[Filter, Selection] | None = None

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was made with."""
        return Analyzer.from_settings(self.snapshot.settings)

    def retriever(self, retriever: str | object, encoders: Encoders, exact: bool) -> Retriever:
        """The retriever of that name, or the user's own object, over this commit."""
        from ..retrieval.retrievers import build

        if not isinstance(retriever, str):
            return build(retriever, self.snapshot, self.analyzer, encoders, exact)
        key = (retriever, encoders, exact)
        if key not in self._retrievers:
            self._retrievers[key] = build(retriever, self.snapshot, self.analyzer, encoders, exact)
        return self._retrievers[key]

    def selection(self, where: Filter | None) -> Selection | None:
        """The documents and passages that a filter selects, None without one; the last result is kept."""
        from .filters import select

        if where is None:
            return None
        if self._selected is None or self._selected[0] != where:
            self._selected = (where, select(self.snapshot, where))
        return self._selected[1]

    def hold(self) -> Snapshot:
        """The snapshot, which stays readable from now on, until nobody refers to it."""
        self.is_held = True
        return self.snapshot

    def reopen(self) -> bool:
        """Begin to read again; False when something else was committed."""
        return self.is_held or self.snapshot.wake()

    def end_transaction(self) -> None:
        """Release SQLite's log, unless the snapshot is held."""
        if not self.is_held:
            self.snapshot.rest()

    def close(self) -> None:
        """Close the snapshot, unless it is held."""
        if not self.is_held:
            self.snapshot.close()


class Views:
    """The current view of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._view: IndexView | None = None
        self._lock = RLock()
        self._depth = 0

    @contextmanager
    def current(self) -> Iterator[IndexView]:
        """The view of the last commit; nobody else can use it meanwhile, so be brief."""
        with self._lock:
            self._store.check_open()
            if self._view is None or self._depth == 0:
                self._view = self._reopened()
            self._depth += 1
            try:
                yield self._view
            finally:
                self._depth -= 1
                if self._depth == 0 and self._view is not None:
                    self._view.end_transaction()

    def close(self) -> None:
        """Drop the view; held snapshots stay open."""
        with self._lock:
            if self._view is not None:
                self._view.close()
                self._view = None

    def _reopened(self) -> IndexView:
        commit = self._store.last_commit()
        view, self._view = self._view, None
        if view is not None:
            if view.commit == commit and view.reopen():
                return view
            view.close()
        while True:  # until the snapshot is of the commit that was looked up
            commit = self._store.last_commit()
            snapshot = self._store.snapshot()
            if snapshot.seal == commit.seal:
                return IndexView(commit, snapshot)
            snapshot.close()
