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
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import ShardsMissing
from spanwise.types import Document, Passage

from ...index.live_postings import LIKELY, CorpusStatistics
from ...index.protocol import Floats, Ids, Index, Ranking
from ...index.shards import MANIFEST, shard_of
from ...index.top_k import best, check_among, check_k
from .replicas import LocalShards, RayShards
from .shard import GetWhole, ShardLost, ShardState, Terms

BITS = 40  # of the id of a passage inside its shard
REMEMBERED = 256  # questions with the document frequencies of their terms


class ShardedSnapshot:
    """What the program asks of a `Snapshot`, over all shards that can be reached.

    What changes an index, and the rows of its segments, are not here: that is done shard by shard.
    """

    def __init__(
        self, index: Path, shards: LocalShards | RayShards, states: Mapping[int, ShardState], n_shards: int
    ) -> None:
        self.path, self._shards, self._states, self._n_shards = index / MANIFEST, shards, states, n_shards
        every = states.values()
        self.generation = sum(state.generation for state in every)
        self.n_documents, self.n_passages = (sum(x) for x in zip(*(s[2:4] for s in every), strict=True))
        self.digest, self.settings = commit_of(states), settings_of(states)
        self.left_out = f"{len(states)} of {n_shards} shards" if len(states) < n_shards else ""
        self.numbers = sorted(states)
        self._counted = lru_cache(REMEMBERED)(lambda terms: _total(self.all("statistics", terms).values()))
        self._shared: dict[str, GetWhole | None] = {}  # the statistics of all terms

    def gather(self, method: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """The results of a method of `Shard` for arguments by the number of the shard; or ShardsMissing."""
        if gone := calls.keys() - self._states.keys():
            raise ShardsMissing(f"shard {min(gone)} of {self.path.parent} cannot be reached: try again")
        sent = {at: ("call", self._states[at].commit, method, *given) for at, given in calls.items()}
        found = self._shards.ask(sent)
        if lost := sent.keys() - found.keys():
            raise ShardLost(f"no replica of shard {min(lost)} can be reached: try again")
        return found

    def all(self, method: str, *given: Any) -> dict[int, Any]:
        """The results of a method for all shards."""
        return self.gather(method, dict.fromkeys(self._states, given))

    def __getattr__(self, method: str) -> Any:
        """A method whose results are put together by _MERGED."""
        if method not in _MERGED:
            raise AttributeError(f"an index of shards has no {method}")
        return lambda *given: _MERGED[method](self.all(method, *given).values())

    def reopen(self) -> bool:
        """True: the store looks for new commits."""
        return True

    def close(self, *error: object) -> None:
        """Nothing: a shard is read in one transaction for each call."""

    def __enter__(self) -> ShardedSnapshot:
        """The snapshot itself."""
        return self

    end_transaction = __exit__ = close

    # Contents

    def document(self, document_id: str) -> Document:
        """A document; `ValueError` for an unknown one."""
        number = shard_of(document_id, self._n_shards)
        found: Document = self.gather("document", {number: (document_id,)})[number]
        return found

    def passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in this order; `ValueError` for an id that is not in the index."""
        found = self._of_passages("passages", passage_ids)
        return [replace(passage, id=number) for number, passage in zip(passage_ids, found, strict=True)]

    found = passages

    def places(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of passages, in this order."""
        return self._of_passages("places", passage_ids)

    def passage_ids(self) -> Ids:
        """All live passages, ordered by (document id, start, end)."""
        ids = _joined(self.all("passage_ids"))
        places = self.places(ids.tolist())
        return ids[sorted(range(len(ids)), key=places.__getitem__)]

    def passage_ids_of(self, document_ids: Sequence[str]) -> Ids:
        """The passages of these documents, ascending."""
        return np.sort(_joined(self.all("passage_ids_of", document_ids)))

    # Terms

    def postings(self) -> ShardedSnapshot:
        """The snapshot itself: terms are counted over all shards, and their rows stay there."""
        return self

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        """The collection, with the document frequencies of these terms."""
        return self._counted(tuple(sorted(set(terms))))

    def spelled_like(self, typed: str, most: int) -> list[str]:
        """The terms of live passages that a typed word may mean; see `LivePostings`."""
        found = chain.from_iterable(self.all("likely_terms", typed, most).values())
        terms = [term for _, term in sorted(set(found))[:LIKELY]]
        df = self.statistics(terms).df
        return [term for term in terms if df[term]]

    def first_passages(self, term: str, n: int) -> list[int]:
        """The ids of the first n live passages that hold a term, by (document id, start)."""
        ids = [at << BITS | one for at, some in self.all("first_passages", term, n).items() for one in some]
        return [one for _, one in sorted(zip(self.places(ids), ids, strict=True))[:n]]

    # Indexes

    def lexical(self, name: str, make: object) -> Index[Terms]:
        """The index of a lexical ranking, which each shard makes for itself; all but bm25 need all terms."""

        def given(queries: Terms) -> tuple[Any, ...]:
            return *before, self.statistics(chain.from_iterable(queries))

        if name not in self._shared:
            needs_all = name != "bm25"
            self._shared[name] = (
                self._shards.share(_total(self.all("all_statistics").values())) if needs_all else None
            )
        before = name, self.digest, self._shared[name]
        return ShardedIndex(self, self.n_passages, "lexical", given)

    def vectors(self, model_digest: str, exact: bool = False) -> Index[Floats]:
        """The dense index of one model."""
        n, given = self.vector_models().get(model_digest, 0), ("vectors", model_digest, exact)
        return ShardedIndex(self, n, "ranked", lambda queries: given)

    def maxsim(self, model_digest: str, exact: bool = False) -> Index[Sequence[Floats]]:
        """The MaxSim index of one model."""
        n, given = self.token_models().get(model_digest, 0), ("maxsim", model_digest, exact)
        return ShardedIndex(self, n, "ranked", lambda queries: given)

    def _of_passages(self, method: str, passage_ids: Sequence[int]) -> list[Any]:
        """What a method gives for each passage."""
        wanted: dict[int, list[int]] = {}
        for number in dict.fromkeys(passage_ids):
            wanted.setdefault(number >> BITS, []).append(number)
        parts = self.gather(method, {at: ([n & (1 << BITS) - 1 for n in ids],) for at, ids in wanted.items()})
        found = dict(chain.from_iterable(zip(ids, parts[at], strict=True) for at, ids in wanted.items()))
        return [found[number] for number in passage_ids]


class ShardedIndex:
    """Asks every shard for its best passages by a method of `Shard`, and merges the rankings."""

    def __init__(
        self, snapshot: ShardedSnapshot, n_passages: int, method: str, given: Callable[[Any], tuple[Any, ...]]
    ) -> None:
        self._snapshot, self._n_passages, self._method, self._given = snapshot, n_passages, method, given

    def __len__(self) -> int:
        """The number of live passages that can be found."""
        return self._n_passages

    def search(self, queries: Any, k: int, among: Ids | None = None) -> list[Ranking]:
        """For each query its best k passages; see `Index`."""
        check_k(k)
        check_among(among)
        given, calls = self._given(queries), dict[int, tuple[Any, ...]]()
        for number in self._snapshot.numbers:
            own = None if among is None else among[among >> BITS == number] & (1 << BITS) - 1
            if own is None or len(own):
                calls[number] = *given, queries, k, own
        found = self._snapshot.gather(self._method, calls)
        return [self._merged({at: one[n] for at, one in found.items()}, k) for n in range(len(queries))]

    def _merged(self, rankings: Mapping[int, Ranking], k: int) -> Ranking:
        ids = _joined({number: one.passage_ids for number, one in rankings.items()})
        scores = np.concatenate([np.empty(0), *(one.scores for one in rankings.values())])
        return best(ids, scores, k, self._snapshot.places)


def settings_of(states: Mapping[int, ShardState]) -> Mapping[str, str]:
    """The settings of the shard with the lowest number, the last one that a change of settings reaches."""
    return states[min(states)].settings


def commit_of(states: Mapping[int, ShardState]) -> str:
    """The digest of the commits of shards, by number; without a shard it is another one."""
    commits = sorted((number, state.commit) for number, state in states.items())
    return hashlib.sha256(json.dumps(commits).encode("ascii")).hexdigest()


def _joined(passage_ids: Mapping[int, Ids]) -> Ids:
    """The ids of shards, by number, as those of the whole index."""
    parts = [ids + (number << BITS) for number, ids in passage_ids.items()]
    return np.concatenate([np.empty(0, np.int64), *parts])


def _total(parts: Collection[CorpusStatistics]) -> CorpusStatistics:
    df = _summed(one.df for one in parts)
    return CorpusStatistics(sum(one.n_docs for one in parts), sum(one.total_length for one in parts), df)


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))


def _by_id(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return dict(sorted(chain.from_iterable(one.items() for one in parts)))


def _tuned(parts: Iterable[Any]) -> Any:
    """The approximate search with the smallest recall, and the number of vectors of all."""
    found = [one for one in parts if one]
    return (
        (min((one for one, _ in found), key=lambda one: one.recall), sum(n for _, n in found))
        if found
        else None
    )


_MERGED: Mapping[str, Callable[[Iterable[Any]], Any]] = {
    "document_ids": lambda parts: list(chain.from_iterable(parts)),
    "descriptions": lambda parts: sorted(chain.from_iterable(parts), key=lambda one: one.id),
    "files": _by_id,
    "refusals": _by_id,
    "sizes": _summed,
    "vector_models": _summed,
    "token_models": _summed,
    "n_tokens": sum,
    "tuning": _tuned,
}
