"""What searching takes, kept warm for one generation at a time.

The last commit is looked up before each use. As long as it stays, what was opened and built for it is used
again; otherwise that is dropped. Between two uses no transaction is open, so that an idle library holds up
neither writers nor SQLite's log. One thread searches at a time; the others wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from ..index.analysis import Analyzer
from ..index.snapshot import Snapshot
from ..index.store import Store

if TYPE_CHECKING:
    from spanwise.types import Filter

    from ..retrieval.plugged import RetrieverSource
    from ..retrieval.protocol import Encoders, Retriever
    from .selection import Selection


class Generation:
    """A commit, the snapshot of it, and the retrievers over it, each built once."""

    def __init__(self, commit: str, snapshot: Snapshot) -> None:
        self.commit, self.snapshot = commit, snapshot
        self.is_pinned = False
        self._retrievers: dict[tuple[object, ...], Retriever] = {}
        self._selected: tuple[Filter, Selection] | None = None

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was made with."""
        return Analyzer.from_settings(self.snapshot.settings)

    def retriever(
        self, name: str, encoders: Encoders, exact: bool, others: Mapping[str, RetrieverSource]
    ) -> Retriever:
        """The retriever of that name; see `build`."""
        from ..retrieval.retrievers import build

        key = (name, encoders, exact, *others.values())
        if key not in self._retrievers:
            self._retrievers[key] = build(name, self.snapshot, self.analyzer, encoders, exact, others)
        return self._retrievers[key]

    def selection(self, where: Filter) -> Selection:
        """What the filter leaves; the last one is not worked out again."""
        from .selection import select

        if self._selected is None or self._selected[0] != where:
            self._selected = (where, select(self.snapshot, where))
        return self._selected[1]

    def pin(self) -> Snapshot:
        """The snapshot, which from now on stays what it is even when it is not used, until nobody has it."""
        self.is_pinned = True
        return self.snapshot

    def wake(self) -> bool:
        """Begin to read again; False when that is not possible because something else was committed."""
        return self.is_pinned or self.snapshot.reopen()

    def rest(self) -> None:
        """Let go of SQLite's log, unless somebody holds the snapshot."""
        if not self.is_pinned:
            self.snapshot.end_transaction()

    def close(self) -> None:
        """Give the snapshot back, unless somebody holds it."""
        if not self.is_pinned:
            self.snapshot.close()


class Generations:
    """The last generation of a store, warm."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._warm: Generation | None = None
        self._lock = RLock()
        self._depth = 0

    @contextmanager
    def last(self) -> Iterator[Generation]:
        """The last generation; inside it stays the same and nobody else may use it, so be brief."""
        with self._lock:
            self._store.check_open()
            if self._warm is None or self._depth == 0:
                self._warm = self._awake()
            self._depth += 1
            try:
                yield self._warm
            finally:
                self._depth -= 1
                if self._depth == 0 and self._warm is not None:
                    self._warm.rest()

    def close(self) -> None:
        """Drop what is warm; snapshots that somebody holds live on."""
        with self._lock:
            if self._warm is not None:
                self._warm.close()
                self._warm = None

    def _awake(self) -> Generation:
        commit = self._store.commit_digest()
        warm, self._warm = self._warm, None
        if warm is not None:
            if warm.commit == commit and warm.wake():
                return warm
            warm.close()
        return self._opened()

    def _opened(self) -> Generation:
        """A generation whose commit is that of its snapshot, also when another is made at this moment."""
        while True:
            commit = self._store.commit_digest()
            snapshot = self._store.snapshot()
            if self._store.commit_digest() == commit:
                return Generation(commit, snapshot)
            snapshot.close()
