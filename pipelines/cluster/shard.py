"""One shard that is searched. Ids of passages are those of the shard.

It works in a thread of this process or in an actor of a cluster, and does not use other shards. Statistics of
the whole collection (number of passages, document frequencies, mean length) come with the question.
"""

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
GetStatistics = Callable[[], CorpusStatistics]


class ShardLost(ShardsMissing):
    """A shard was lost or changed after the question began; the question is asked again."""


class ShardState(NamedTuple):
    """A commit of a shard: its digest, figures and settings."""

    commit: str
    generation: int
    n_documents: int
    n_passages: int
    settings: Mapping[str, str]


class Shard:
    """The last commit of a shard. Any thread may ask; one at a time is answered."""

    def __init__(self, path: str | Path) -> None:
        self._store = Store.open(Path(path))
        self._lock = Lock()
        self._open: tuple[Snapshot, ShardState] | None = None
        self._statistics = CorpusStatistics(0, 0, {})
        self._lexical: dict[str, tuple[str, Index[Terms]]] = {}  # with the commit of the whole collection

    def state(self) -> ShardState:
        """The state of the last commit."""
        with self._lock:
            snapshot, state = self._last_commit()
            snapshot.end_transaction()
            return state

    def call(self, commit: str, method: str, *arguments: Any) -> Any:
        """What a method of this class, the postings or the snapshot returns; ShardLost after a commit."""
        with self._lock:
            snapshot, state = self._last_commit(commit)
            try:
                if state.commit != commit:
                    raise ShardLost(f"{self._store.path} was changed while it was searched: try again")
                if method in ("lexical", "ranked"):
                    try:
                        return getattr(self, method)(snapshot, *arguments)
                    except IndexEmpty:  # no passage of this shard holds a word, or has a vector
                        return [Ranking.empty() for _ in arguments[-3]]  # the queries
                is_of_postings = hasattr(LivePostings, method) and not hasattr(Snapshot, method)
                attribute = getattr(snapshot.postings() if is_of_postings else snapshot, method)
                return attribute(*arguments) if callable(attribute) else attribute
            finally:
                snapshot.end_transaction()

    def lexical(
        self,
        snapshot: Snapshot,
        name: str,
        collection: str,
        get_all: GetStatistics | None,
        statistics: CorpusStatistics,
        *search: Any,
    ) -> list[Ranking]:
        """The best passages for lists of terms, scored with statistics of the whole collection.

        `statistics` are those of the terms. `get_all` gives those of all terms, which some rankings need once
        for each commit `collection`. `search` are the arguments of `Index.search`.
        """
        self._statistics = statistics
        if name not in self._lexical or self._lexical[name][0] != collection:
            corpus: Any = SimpleNamespace(
                statistics=lambda terms: self._statistics, all_statistics=get_all and get_all()
            )
            index = LEXICAL[name](snapshot.postings(), snapshot.places, corpus)
            self._lexical[name] = (collection, index)
        return self._lexical[name][1].search(*search)

    def ranked(self, snapshot: Snapshot, by: str, model: str, exact: bool, *search: Any) -> list[Ranking]:
        """The best passages by an index of the snapshot, which its method `by` gives: vectors or maxsim."""
        rankings: list[Ranking] = getattr(snapshot, by)(model, exact).search(*search)
        return rankings

    def close(self) -> None:
        """Close the shard."""
        with self._lock:
            if self._open:
                self._open[0].close()
            self._store.close()

    def _last_commit(self, expected: str = "") -> tuple[Snapshot, ShardState]:
        """The last commit, open to be read; if it is the expected one, only its catalog is looked at."""
        if self._open and self._open[1].commit == expected and self._open[0].reopen():
            return self._open
        while True:
            commit = self._store.commit_digest()
            if self._open and self._open[1].commit == commit and self._open[0].reopen():
                return self._open
            if self._open:
                self._open[0].close()
            snapshot = self._store.snapshot()
            counts = snapshot.generation, snapshot.n_documents, snapshot.n_passages
            self._open = (snapshot, ShardState(commit, *counts, dict(snapshot.settings)))
            self._lexical = {}
            snapshot.end_transaction()
