"""One commit of one shard: what a search asks of it. Ids of passages are those of the shard.

It runs in a thread of this process or in an actor of a cluster, and knows of no other shard. What depends on
the whole collection (the number of passages, document frequencies, the mean length) comes with the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spanwise.errors import IndexEmpty, ShardsMissing

from ...index.lexical import CorpusStatistics
from ...index.protocol import Floats, Ids, Index, Ranking
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...retrieval.retrievers import LEXICAL

Terms = Sequence[Sequence[str]]
GetWhole = Callable[[], CorpusStatistics]


class ShardLost(ShardsMissing):
    """A shard that was there when the question began is gone, or changed: it is asked again."""


@dataclass(frozen=True, slots=True)
class ShardState:
    """What a shard holds: figures of a commit, its settings, and the passages with vectors of each model."""

    commit: str
    generation: int
    n_documents: int
    n_passages: int
    settings: Mapping[str, str]
    vector_models: Mapping[str, int]
    token_models: Mapping[str, int]


@dataclass(slots=True)
class _Whole:
    """The statistics of the whole collection: those that came with a question, and those of all terms."""

    commit: str
    get_all: GetWhole | None
    given: CorpusStatistics

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        return self.given

    @property
    def all_statistics(self) -> CorpusStatistics:
        if self.get_all is None:
            raise ValueError("a ranking that needs the statistics of all terms came without them")
        return self.get_all()


class Reading:
    """A commit of a shard, held until `close`; for one thread at a time."""

    def __init__(self, store: Store) -> None:
        while True:  # until the snapshot is of the commit that was looked up
            commit = store.commit_digest()
            self.snapshot: Snapshot = store.snapshot()
            if store.commit_digest() == commit:
                break
            self.snapshot.close()
        found = self.snapshot
        counts = found.generation, found.n_documents, found.n_passages
        self.state = ShardState(
            commit, *counts, dict(found.settings), found.vector_models(), found.token_models()
        )
        self._lexical: dict[str, tuple[_Whole, Index[Terms]]] = {}

    def call(self, method: str, *given: Any) -> Any:
        """The result of a method of this class or, where it has none, of the snapshot."""
        return getattr(self if hasattr(type(self), method) else self.snapshot, method)(*given)

    def close(self) -> None:
        """Close the snapshot."""
        self.snapshot.close()

    def statistics(self, terms: Sequence[str]) -> CorpusStatistics:
        """The passages of this shard, with the document frequencies of these terms."""
        return self.snapshot.postings().statistics(terms)

    def all_statistics(self) -> CorpusStatistics:
        """The passages of this shard, with the document frequencies of all its terms."""
        return self.snapshot.postings().all_statistics

    def likely_terms(self, typed: str, most: int) -> list[tuple[float, str]]:
        """See `LivePostings`."""
        return self.snapshot.postings().likely_terms(typed, most)

    def first_passages(self, term: str, n: int) -> list[int]:
        """See `LivePostings`."""
        return self.snapshot.postings().first_passages(term, n)

    def n_tokens(self, model: str) -> int:
        """The number of token vectors of a model."""
        return self.snapshot.n_tokens(model) if self.state.token_models.get(model) else 0

    def lexical(
        self,
        name: str,
        commit: str,
        get_all: GetWhole | None,
        given: CorpusStatistics,
        queries: Terms,
        k: int,
        among: Ids | None,
    ) -> list[Ranking]:
        """The best passages for lists of terms, scored with statistics of the whole collection.

        `given` are those of the terms. `get_all` gives those of all terms, which some rankings need once for
        each `commit` of the collection.
        """
        found = self._lexical.get(name)
        try:
            if found is None or found[0].commit != commit:
                whole = _Whole(commit, get_all, given)
                found = whole, self.snapshot.lexical(name, self._maker(name, whole))
                self._lexical[name] = found
        except IndexEmpty:  # no passage of this shard holds a word
            return [Ranking.empty() for _ in queries]
        whole, index = found
        whole.given = given
        return index.search(queries, k, among)

    def vectors(self, model: str, exact: bool, queries: Floats, k: int, among: Ids | None) -> list[Ranking]:
        """The best passages for unit vectors (n, width)."""
        if not self.state.vector_models.get(model):
            return [Ranking.empty() for _ in queries]
        return self.snapshot.vectors(model, exact).search(queries, k, among)

    def maxsim(
        self, model: str, exact: bool, queries: Sequence[Floats], k: int, among: Ids | None
    ) -> list[Ranking]:
        """The best passages for questions of several unit vectors."""
        if not self.state.token_models.get(model):
            return [Ranking.empty() for _ in queries]
        return self.snapshot.maxsim(model, exact).search(queries, k, among)

    def _maker(self, name: str, whole: _Whole) -> Any:
        return lambda postings, places: LEXICAL[name](postings, places, whole)
