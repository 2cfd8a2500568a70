"""One commit of each shard, read as if it were one index.

The id of a passage is that of its shard plus the number of the shard times 2^40. Rankings are merged by
score, ties by (document id, start), as one index orders them: scores do not depend on how passages are
spread, because the statistics are those of the whole collection.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from spanwise.errors import ShardsMissing
from spanwise.types import Document, Passage

from ...index.ann import Tuning
from ...index.lexical import LIKELY, CorpusStatistics, LivePostings
from ...index.protocol import Floats, Ids, Index, Places, Ranking
from ...index.ranking import best, check_among, check_k
from ...index.schema import Description, FileState, Refusal
from ...index.snapshot import MakeLexical, Snapshot
from .manifest import MANIFEST, shard_of
from .shard import GetWhole, ShardState, Terms

BITS = 40  # of the id of a passage inside its shard
MAX_COUNTED = 100_000  # terms whose document frequencies are remembered

T = TypeVar("T")
Queries = TypeVar("Queries")
Calls = Mapping[int, tuple[Any, ...]]
"""The arguments of a call for each shard, by its number."""


class Readings(Protocol):
    """A commit of each shard that can be reached, by the number of the shard."""

    n_shards: int

    @property
    def states(self) -> Mapping[int, ShardState]:
        """What each of these shards holds."""

    def gather(self, method: str, calls: Calls) -> dict[int, Any]:
        """The results of a method of `Reading` for these shards, which work side by side."""

    def share(self, whole: CorpusStatistics) -> GetWhole:
        """A function that gives every shard these statistics, without sending them each time."""

    def reopen(self) -> bool:
        """Begin to read again after `end_transaction`; False after another commit."""

    def end_transaction(self) -> None:
        """Let writers shrink their logs."""

    def close(self) -> None:
        """Close all."""


class ShardedSnapshot(Snapshot):
    """A snapshot over the shards of an index. What changes an index is done shard by shard and not here."""

    def __init__(self, index: Path, readings: Readings) -> None:
        self.path, self._readings = index / MANIFEST, readings
        states = readings.states.values()
        self.generation = sum(state.generation for state in states)
        self.n_documents = sum(state.n_documents for state in states)
        self.n_passages = sum(state.n_passages for state in states)
        self.digest = commit_of({number: state.commit for number, state in readings.states.items()})
        self._known: dict[int, Passage] = {}
        self._indexes: dict[tuple[object, ...], Any] = {}

    @property
    def partial(self) -> str:
        """Which part of the index is searched, such as "7 of 8 shards"; "" for all of it."""
        n, of = len(self._readings.states), self._readings.n_shards
        return f"{n} of {of} shards" if n < of else ""

    # The commit

    def begin(self) -> None:
        """Nothing: it was begun when it was opened."""

    def reopen(self) -> bool:
        """Begin to read again; False after another commit of a shard."""
        return self._readings.reopen()

    def end_transaction(self) -> None:
        """End the transactions of all shards."""
        self._readings.end_transaction()

    def close(self) -> None:
        """Close the commits of all shards."""
        self._readings.close()

    def read_digest(self) -> str:
        """The digest of these commits."""
        return self.digest

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings, which all shards share."""
        return settings_of(self._readings.states)

    # Contents

    def document(self, document_id: str) -> Document:
        """A document; `ValueError` for an unknown one, ShardsMissing when its shard cannot be reached."""
        number = shard_of(document_id, self._readings.n_shards)
        if number not in self._readings.states:
            raise ShardsMissing(f"the shard of {document_id!r} cannot be reached: try again")
        found: Document = self._readings.gather("document", {number: (document_id,)})[number]
        return found

    def document_ids(self) -> list[str]:
        """The documents, in no certain order."""
        return list(chain.from_iterable(self._all("document_ids").values()))

    def descriptions(self) -> list[Description]:
        """Each document without its text, by id in order."""
        return sorted(chain.from_iterable(self._all("descriptions").values()), key=lambda one: one.id)

    def files(self) -> dict[str, FileState]:
        """The state of the file of each document, by document id in order."""
        return dict(sorted(chain.from_iterable(one.items() for one in self._all("files").values())))

    def refusals(self) -> dict[str, Refusal]:
        """The refused files by document id in order."""
        found = chain.from_iterable(one.items() for one in self._all("refusals").values())
        return dict(sorted(found, key=lambda one: one[0]))

    def passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in this order; `ValueError` for an id that is not in the index."""
        found = self._of_passages("passages", passage_ids)
        return [replace(found[number], id=number) for number in passage_ids]

    def places(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of passages, in this order."""
        found = self._of_passages("places", passage_ids)
        return [found[number] for number in passage_ids]

    def passage_ids(self) -> Ids:
        """All live passages, ordered by (document id, start, end)."""
        found = self._all("passage_ids")
        places = self._readings.gather("places", {number: (ids.tolist(),) for number, ids in found.items()})
        ids = np.concatenate([np.empty(0, np.int64), *(_whole(number, one) for number, one in found.items())])
        keys = list(chain.from_iterable(places[number] for number in found))
        return ids[sorted(range(len(ids)), key=keys.__getitem__)]

    def passage_ids_of(self, document_ids: Sequence[str]) -> Ids:
        """The passages of these documents, ascending."""
        calls: dict[int, tuple[list[str]]] = {number: ([],) for number in self._readings.states}
        for document_id in document_ids:
            if (number := shard_of(document_id, self._readings.n_shards)) in calls:
                calls[number][0].append(document_id)
        found = self._readings.gather("passage_ids_of", calls)
        parts = [_whole(number, ids) for number, ids in sorted(found.items())]
        return np.concatenate([np.empty(0, np.int64), *parts])

    # Figures

    def vector_models(self) -> dict[str, int]:
        """The number of live passages with a vector, by the digest of the model."""
        return dict(_sums(state.vector_models for state in self._readings.states.values()))

    def token_models(self) -> dict[str, int]:
        """The number of live passages with tokens, by the digest of the model."""
        return dict(_sums(state.token_models for state in self._readings.states.values()))

    def sizes(self) -> dict[str, int]:
        """The bytes of the segments of each kind, by kind."""
        return dict(sorted(_sums(self._all("sizes").values()).items()))

    def n_tokens(self, model_digest: str) -> int:
        """The number of live token vectors of a model."""
        return sum(self._all("n_tokens", model_digest).values())

    def tuning(self, model_digest: str) -> tuple[Tuning, int] | None:
        """The approximate search with the smallest recall, and the number of vectors of all of them."""
        found = [one for one in self._all("tuning", model_digest).values() if one]
        lowest = min((one[0] for one in found), key=lambda tuning: tuning.recall, default=None)
        return (lowest, sum(n for _, n in found)) if lowest else None

    # Indexes

    def postings(self) -> LivePostings:
        """The terms of all shards."""
        return self._once(("postings",), lambda: ShardedPostings(self._readings, self.places))

    def lexical(self, name: str, make: MakeLexical) -> Index[Terms]:
        """The index of a lexical ranking, which each shard builds for itself."""
        return self._once(("lexical", name), lambda: ShardedLexical(self._readings, self, name))

    def vectors(self, model_digest: str, exact: bool = False) -> Index[Floats]:
        """The dense index of one model."""
        n, given = self.vector_models().get(model_digest, 0), (model_digest, exact)
        return self._once(
            ("vectors", *given), lambda: ShardedIndex(self._readings, self.places, "vectors", given, n)
        )

    def maxsim(self, model_digest: str, exact: bool = False) -> Index[Sequence[Floats]]:
        """The MaxSim index of one model."""
        n, given = self.token_models().get(model_digest, 0), (model_digest, exact)
        return self._once(
            ("maxsim", *given), lambda: ShardedIndex(self._readings, self.places, "maxsim", given, n)
        )

    def _once(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        if key not in self._indexes:
            self._indexes[key] = make()
        return cast("T", self._indexes[key])

    def _all(self, method: str, *given: Any) -> dict[int, Any]:
        return self._readings.gather(method, dict.fromkeys(self._readings.states, given))

    def _of_passages(self, method: str, passage_ids: Collection[int]) -> dict[int, Any]:
        """What a method gives for each passage."""
        wanted: dict[int, list[int]] = {}
        for number in dict.fromkeys(passage_ids):
            wanted.setdefault(number >> BITS, []).append(number)
        if unknown := wanted.keys() - self._readings.states.keys():
            raise ValueError(f"no passage {wanted[min(unknown)][0]} in the index {self.path.parent}")
        calls = {shard: ([one & (1 << BITS) - 1 for one in ids],) for shard, ids in wanted.items()}
        found = self._readings.gather(method, calls)
        return dict(chain.from_iterable(zip(ids, found[shard], strict=True) for shard, ids in wanted.items()))


class ShardedPostings(LivePostings):
    """The terms of all shards: statistics are sums, which are remembered. Rows stay in the shards."""

    def __init__(self, readings: Readings, places: Places) -> None:
        self._readings, self._places = readings, places
        self._df: dict[str, int] = {}
        self._size: tuple[int, int] | None = None

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        """The collection, with the document frequencies of these terms."""
        wanted = list(dict.fromkeys(terms))
        lacking = [term for term in wanted if term not in self._df]
        if lacking or self._size is None:
            found = self._gather("statistics", lacking).values()
            self._size = sum(one.n_docs for one in found), sum(one.total_length for one in found)
            if len(self._df) + len(lacking) > MAX_COUNTED:
                self._df.clear()
                lacking = wanted
                found = self._gather("statistics", lacking).values()
            self._df |= {term: sum(one.df[term] for one in found) for term in lacking}
        return CorpusStatistics(*self._size, {term: self._df[term] for term in wanted})

    @cached_property
    def all_statistics(self) -> CorpusStatistics:
        """The collection, with the document frequencies of all its terms."""
        found = self._gather("all_statistics").values()
        df = _sums(one.df for one in found)
        return CorpusStatistics(sum(one.n_docs for one in found), sum(one.total_length for one in found), df)

    def likely_terms(self, typed: str, most: int) -> list[tuple[float, str]]:
        """The cheapest terms of all shards."""
        return sorted(set(chain.from_iterable(self._gather("likely_terms", typed, most).values())))[:LIKELY]

    def spelled_like(self, typed: str, most: int) -> list[str]:
        """The terms of live passages that a typed word may mean; see `LivePostings`."""
        terms = [term for _, term in self.likely_terms(typed, most)]
        df = self.statistics(terms).df
        return [term for term in terms if df[term]]

    def first_passages(self, term: str, n: int) -> list[int]:
        """The ids of the first n live passages that hold a term, by (document id, start)."""
        found = self._gather("first_passages", term, n).items()
        ids = [number << BITS | one for number, some in found for one in some]
        return [one for _, one in sorted(zip(self._places(ids), ids, strict=True))[:n]]

    def _gather(self, method: str, *given: Any) -> dict[int, Any]:
        return self._readings.gather(method, dict.fromkeys(self._readings.states, given))


class ShardedIndex(Generic[Queries]):
    """Asks every shard for its best k, by a method of `Reading`, and merges the rankings."""

    def __init__(
        self, readings: Readings, places: Places, method: str, given: tuple[Any, ...], n_passages: int
    ) -> None:
        self._readings, self._places, self._method, self._given = readings, places, method, given
        self._n_passages = n_passages

    def __len__(self) -> int:
        """The number of live passages that can be found."""
        return self._n_passages

    def search(self, queries: Queries, k: int, among: Ids | None = None) -> list[Ranking]:
        """For each query its best k passages; see `Index`."""
        check_k(k)
        check_among(among)
        calls = {}
        for number in self._readings.states:
            own = None if among is None else among[among >> BITS == number] & (1 << BITS) - 1
            if own is None or len(own):
                calls[number] = (*self._arguments(queries), queries, k, own)
        found = self._readings.gather(self._method, calls)
        n = len(queries)  # type: ignore[arg-type]
        return [self._merged({number: one[at] for number, one in found.items()}, k) for at in range(n)]

    def _arguments(self, queries: Queries) -> tuple[Any, ...]:
        """What the method gets before the queries."""
        return self._given

    def _merged(self, rankings: Mapping[int, Ranking], k: int) -> Ranking:
        ids = [_whole(number, one.passage_ids) for number, one in rankings.items()]
        scores = [np.empty(0), *(one.scores for one in rankings.values())]
        return best(np.concatenate([np.empty(0, np.int64), *ids]), np.concatenate(scores), k, self._places)


class ShardedLexical(ShardedIndex[Terms]):
    """A lexical ranking: the statistics of the terms are exchanged before the shards are asked."""

    def __init__(self, readings: Readings, snapshot: ShardedSnapshot, name: str) -> None:
        self._postings = snapshot.postings()
        needs_all = name != "bm25"
        get_all = readings.share(self._postings.all_statistics) if needs_all else None
        given = name, snapshot.digest, get_all
        super().__init__(readings, snapshot.places, "lexical", given, snapshot.n_passages)

    def _arguments(self, queries: Terms) -> tuple[Any, ...]:
        return *self._given, self._postings.statistics(chain.from_iterable(queries))


def settings_of(states: Mapping[int, ShardState]) -> Mapping[str, str]:
    """The settings of the shard with the lowest number, the last one that a change of settings reaches."""
    return states[min(states)].settings


def commit_of(commits: Mapping[int, str]) -> str:
    """The digest of the commits of shards, by number; without a shard it is another one."""
    return hashlib.sha256(json.dumps(sorted(commits.items())).encode("ascii")).hexdigest()


def _whole(number: int, passage_ids: Ids) -> Ids:
    """Ids of a shard as those of the whole index."""
    return passage_ids + (number << BITS)


def _sums(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return total
