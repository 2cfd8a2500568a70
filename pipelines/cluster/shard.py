"""One shard that is searched: what it is asked. Ids of passages are those of the shard.

It works in a thread of this process or in an actor of a cluster, and knows of no other shard. What depends on
the whole collection (the number of passages, document frequencies, the mean length) comes with the question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any, NamedTuple

from spanwise.errors import IndexEmpty, ShardsMissing

from ...index.live_postings import CorpusStatistics, LivePostings
from ...index.protocol import Index, Ranking
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...retrieval.retrievers import LEXICAL

Terms = Sequence[Sequence[str]]
GetWhole = Callable[[], CorpusStatistics]


class ShardLost(ShardsMissing):
    """A shard that was there when the question began is gone, or changed: the question is asked again."""


class ShardState(NamedTuple):
    """A commit of a shard: its figures and its settings."""

    commit: str
    generation: int
    n_documents: int
    n_passages: int
    settings: Mapping[str, str]


class Shard:
    """The last commit of a shard. Any thread may ask; one at a time is answered."""

    def __init__(self, path: str | Path) -> None:
        self._store, self._lock = Store.open(Path(path)), Lock()
        self._read: tuple[Snapshot, ShardState] | None = None
        self._given = CorpusStatistics(0, 0, {})
        self._lexical: dict[str, tuple[str, Index[Terms]]] = {}  # with the commit of the whole collection

    def state(self) -> ShardState:
        """The state of the last commit."""
        with self._lock:
            snapshot, state = self._last_commit()
            snapshot.end_transaction()
            return state

    def call(self, commit: str, method: str, *given: Any) -> Any:
        """What a method of this class, of the postings or of the snapshot gives; ShardLost after a commit."""
        with self._lock:
            snapshot, state = self._last_commit(commit)
            try:
                if state.commit != commit:
                    raise ShardLost(f"{self._store.path} was changed while it was searched: try again")
                if method in ("lexical", "ranked"):
                    return getattr(self, method)(snapshot, *given)
                of_postings = hasattr(LivePostings, method) and not hasattr(Snapshot, method)
                found = getattr(snapshot.postings() if of_postings else snapshot, method)
                return found(*given) if callable(found) else found
            finally:
                snapshot.end_transaction()

    def lexical(
        self, snapshot: Snapshot, name: str, whole: str, get: GetWhole | None, given: Any, *how: Any
    ) -> list[Ranking]:
        """The best passages for lists of terms, scored with statistics of the whole collection.

        `given` are those of the terms; `get` gives those of all terms, which some rankings need once for each
        commit `whole` of the collection. `how` is what `Index.search` is given.
        """
        self._given = given
        try:
            if name not in self._lexical or self._lexical[name][0] != whole:
                corpus: Any = SimpleNamespace(
                    statistics=lambda terms: self._given, all_statistics=get and get()
                )
                self._lexical[name] = whole, LEXICAL[name](snapshot.postings(), snapshot.places, corpus)
            return self._lexical[name][1].search(*how)
        except IndexEmpty:  # no passage of this shard holds a word
            return [Ranking.empty() for _ in how[0]]

    def ranked(self, snapshot: Snapshot, by: str, model: str, exact: bool, *how: Any) -> list[Ranking]:
        """The best passages by the index that the method `by` of a snapshot gives: `vectors` or `maxsim`."""
        try:
            found: list[Ranking] = getattr(snapshot, by)(model, exact).search(*how)
        except IndexEmpty:  # no passage of this shard has a vector
            return [Ranking.empty() for _ in how[0]]
        return found

    def close(self) -> None:
        """Close the shard."""
        with self._lock:
            if self._read:
                self._read[0].close()
            self._store.close()

    def _last_commit(self, wanted: str = "") -> tuple[Snapshot, ShardState]:
        """The last commit, open to be read; where it is the wanted one, only its catalog is looked at."""
        if self._read and self._read[1].commit == wanted and self._read[0].reopen():
            return self._read
        while True:
            commit = self._store.commit_digest()
            if self._read and self._read[1].commit == commit and self._read[0].reopen():
                return self._read
            if self._read:
                self._read[0].close()
            found = self._store.snapshot()
            counts = found.generation, found.n_documents, found.n_passages
            state = ShardState(commit, *counts, dict(found.settings))
            self._read, self._lexical = (found, state), {}
            found.end_transaction()
