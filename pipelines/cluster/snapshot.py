"""One commit of each shard, read as if it were one index.

The id of a passage is that of its shard plus the number of the shard times 2^40. Rankings are merged by
score, ties by (document id, start), as in one index. Scores do not depend on how passages are spread, because
each shard uses the statistics of the whole collection.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import ShardsMissing
from spanwise.types import Document, Passage

from ...index.ann import Tuning
from ...index.live_postings import MAX_LIKELY_TERMS, CorpusStatistics
from ...index.protocol import Floats, Ids, Index, Ranking
from ...index.schema import Description, FileState
from ...index.shards import MANIFEST, shard_of
from ...index.top_k import best, check_among, check_k
from .replicas import Arguments, Shards
from .shard import GetStatistics, ShardLost, ShardState, Terms

BITS = 40  # of a passage id inside its shard
LOCAL = (1 << BITS) - 1  # the mask of that id
CACHED_QUESTIONS = 256  # whose document frequencies are kept


class ShardedSnapshot:
    """What the pipelines read of a `Snapshot`, over all shards that can be reached.

    It has no methods that change an index or give the rows of segments; those work on one shard at a time.
    """

    def __init__(self, index: Path, shards: Shards, states: Mapping[int, ShardState], n_shards: int) -> None:
        self.path = index / MANIFEST
        self._shards = shards
        self._states = states
        self._n_shards = n_shards
        self.generation = sum(state.generation for state in states.values())
        self.n_documents = sum(state.n_documents for state in states.values())
        self.n_passages = sum(state.n_passages for state in states.values())
        self.digest = commit_of(states)
        self.settings = settings_of(states)
        self.left_out = f"{len(states)} of {n_shards} shards" if len(states) < n_shards else ""
        self.numbers = sorted(states)
        self._statistics = lru_cache(CACHED_QUESTIONS)(lambda terms: _total(self._parts("statistics", terms)))
        self._all_statistics: dict[str, GetStatistics | None] = {}  # by the name of the ranking

    def gather(self, method: str, calls: Mapping[int, Arguments]) -> dict[int, Any]:
        """The results of a method of `Shard` by the number of the shard; `calls` are its arguments.

        ShardsMissing when a shard cannot be reached.
        """
        if gone := calls.keys() - self._states.keys():
            raise ShardsMissing(f"shard {min(gone)} of {self.path.parent} cannot be reached: try again")
        results = self._shards.ask(
            {
                number: ("call", self._states[number].commit, method, *arguments)
                for number, arguments in calls.items()
            }
        )
        if lost := calls.keys() - results.keys():
            raise ShardLost(f"no replica of shard {min(lost)} can be reached: try again")
        return results

    def _by_shard(self, method: str, *arguments: Any) -> dict[int, Any]:
        return self.gather(method, dict.fromkeys(self._states, arguments))

    def _parts(self, method: str, *arguments: Any) -> Collection[Any]:
        return self._by_shard(method, *arguments).values()

    def reopen(self) -> bool:
        """True: the store looks for new commits."""
        return True

    def close(self, *error: object) -> None:
        """Does nothing: each call of a shard is a transaction."""

    def __enter__(self) -> ShardedSnapshot:
        """The snapshot itself."""
        return self

    end_transaction = __exit__ = close

    # Contents

    def document(self, document_id: str) -> Document:
        """A document; `ValueError` for an unknown one."""
        number = shard_of(document_id, self._n_shards)
        document: Document = self.gather("document", {number: (document_id,)})[number]
        return document

    def document_ids(self) -> list[str]:
        """The ids of all documents."""
        return list(chain.from_iterable(self._parts("document_ids")))

    def descriptions(self) -> list[Description]:
        """All documents without their texts, by id."""
        descriptions = chain.from_iterable(self._parts("descriptions"))
        return sorted(descriptions, key=lambda description: description.id)

    def files(self) -> dict[str, FileState]:
        """The state of the file of each document, by id."""
        return _by_id(self._parts("files"))

    def unread_files(self, kind: str = "%") -> dict[str, Any]:
        """The files of a kind, by default all, that were not read, by id."""
        return _by_id(self._parts("unread_files", kind))

    def passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in this order; `ValueError` for an id that is not in the index."""
        passages = self._of_passages("passages", passage_ids)
        return [replace(passage, id=number) for number, passage in zip(passage_ids, passages, strict=True)]

    cached_passages = passages

    def places(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of passages, in this order."""
        return self._of_passages("places", passage_ids)

    def passage_ids(self) -> Ids:
        """All live passages, ordered by (document id, start, end)."""
        ids = _global_ids(self._by_shard("passage_ids"))
        places = self.places(ids.tolist())
        return ids[sorted(range(len(ids)), key=places.__getitem__)]

    def passage_ids_of(self, document_ids: Sequence[str]) -> Ids:
        """The passages of these documents, ascending."""
        return np.sort(_global_ids(self._by_shard("passage_ids_of", document_ids)))

    def _of_passages(self, method: str, passage_ids: Sequence[int]) -> list[Any]:
        """The result of a method for each passage."""
        by_shard: dict[int, list[int]] = {}
        for passage_id in dict.fromkeys(passage_ids):
            by_shard.setdefault(passage_id >> BITS, []).append(passage_id)
        calls = {number: ([i & LOCAL for i in ids],) for number, ids in by_shard.items()}
        parts = self.gather(method, calls)
        results: dict[int, Any] = {}
        for number, ids in by_shard.items():
            results.update(zip(ids, parts[number], strict=True))
        return [results[passage_id] for passage_id in passage_ids]

    # Terms

    def postings(self) -> ShardedSnapshot:
        """The snapshot itself, which counts terms over all shards."""
        return self

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        """The statistics of the collection, with the document frequencies of these terms."""
        return self._statistics(tuple(sorted(set(terms))))

    def spelled_like(self, typed: str, most: int) -> list[str]:
        """The terms of live passages that a typed word may mean; see `LivePostings`."""
        likely = chain.from_iterable(self._parts("likely_terms", typed, most))
        terms = [term for _, term in sorted(set(likely))[:MAX_LIKELY_TERMS]]
        df = self.statistics(terms).df
        return [term for term in terms if df[term]]

    def has_term(self, pattern: str) -> bool:
        """True if a term of a live passage matches; see `LivePostings`."""
        return any(self._parts("has_term", pattern))

    def first_passages(self, term: str, n: int) -> list[int]:
        """The ids of the first n live passages that hold a term, by (document id, start)."""
        parts = self._by_shard("first_passages", term, n)
        ids = [number << BITS | passage_id for number, part in parts.items() for passage_id in part]
        places = zip(self.places(ids), ids, strict=True)
        return [passage_id for _, passage_id in sorted(places)[:n]]

    def passages_with(self, terms: Sequence[str]) -> Ids:
        """The passages where a phrase of these terms may begin; see `LivePostings`."""
        return _global_ids(self._by_shard("passages_with", terms))

    # Indexes

    def lexical(self, name: str, make: object) -> Index[Terms]:
        """The index of a lexical ranking, which each shard makes for itself; all but bm25 need all terms."""
        if name not in self._all_statistics:
            self._all_statistics[name] = (
                None if name == "bm25" else self._shards.share(_total(self._parts("all_statistics")))
            )

        def arguments(queries: Terms) -> Arguments:
            statistics = self.statistics(chain.from_iterable(queries))
            return name, self.digest, self._all_statistics[name], statistics

        return ShardedIndex(self, self.n_passages, "lexical", arguments)

    def vectors(self, model_digest: str, exact: bool = False) -> Index[Floats]:
        """The dense index of one model."""
        n_passages = self.vector_models().get(model_digest, 0)
        return ShardedIndex(self, n_passages, "ranked", lambda queries: ("vectors", model_digest, exact))

    def maxsim(self, model_digest: str, exact: bool = False) -> Index[Sequence[Floats]]:
        """The MaxSim index of one model."""
        n_passages = self.token_models().get(model_digest, 0)
        return ShardedIndex(self, n_passages, "ranked", lambda queries: ("maxsim", model_digest, exact))

    # Figures

    def sizes(self) -> dict[str, int]:
        """The bytes of the segments of each kind, by kind."""
        return _summed(self._parts("sizes"))

    def vector_models(self) -> dict[str, int]:
        """The number of live passages with a vector, by the digest of the model."""
        return _summed(self._parts("vector_models"))

    def token_models(self) -> dict[str, int]:
        """The number of live passages with tokens, by the digest of the model."""
        return _summed(self._parts("token_models"))

    def n_tokens(self, model_digest: str) -> int:
        """The number of live token vectors of a model."""
        return sum(self._parts("n_tokens", model_digest))

    def tuning(self, model_digest: str) -> tuple[Tuning, int] | None:
        """The approximate search with the smallest recall, and the number of codes of all shards."""
        parts = [part for part in self._parts("tuning", model_digest) if part]
        if not parts:
            return None
        lowest: Tuning = min((tuning for tuning, _ in parts), key=lambda tuning: tuning.recall)
        return lowest, sum(n_codes for _, n_codes in parts)


@dataclass(frozen=True, slots=True)
class ShardedIndex:
    """Asks every shard for its best passages by a method of `Shard`, and merges the rankings.

    `arguments` gives the first arguments of the method for some queries.
    """

    snapshot: ShardedSnapshot
    n_passages: int
    method: str
    arguments: Callable[[Any], Arguments]

    def __len__(self) -> int:
        """The number of live passages that can be found."""
        return self.n_passages

    def search(self, queries: Any, k: int, among: Ids | None = None) -> list[Ranking]:
        """For each query its best k passages; see `Index`."""
        check_k(k)
        check_among(among)
        arguments = self.arguments(queries)
        calls: dict[int, Arguments] = {}
        for number in self.snapshot.numbers:
            own = None if among is None else among[among >> BITS == number] & LOCAL
            if own is None or len(own):
                calls[number] = (*arguments, queries, k, own)
        parts = self.snapshot.gather(self.method, calls)
        return [
            self._merged({number: rankings[row] for number, rankings in parts.items()}, k)
            for row in range(len(queries))
        ]

    def _merged(self, rankings: Mapping[int, Ranking], k: int) -> Ranking:
        ids = _global_ids({number: ranking.passage_ids for number, ranking in rankings.items()})
        scores = np.concatenate([np.empty(0), *(ranking.scores for ranking in rankings.values())])
        return best(ids, scores, k, self.snapshot.places)


def settings_of(states: Mapping[int, ShardState]) -> Mapping[str, str]:
    """The settings of the shard with the lowest number, the last one that a change of settings reaches."""
    return states[min(states)].settings


def commit_of(states: Mapping[int, ShardState]) -> str:
    """A digest over the shards' commits; it changes when a shard is missing."""
    commits = sorted((number, state.commit) for number, state in states.items())
    return hashlib.sha256(json.dumps(commits).encode("ascii")).hexdigest()


def _global_ids(passage_ids: Mapping[int, Ids]) -> Ids:
    """The passage ids in the whole index, from those in each shard by its number."""
    parts = [ids + (number << BITS) for number, ids in passage_ids.items()]
    return np.concatenate([np.empty(0, np.int64), *parts])


def _total(parts: Collection[CorpusStatistics]) -> CorpusStatistics:
    return CorpusStatistics(
        sum(part.n_docs for part in parts),
        sum(part.total_length for part in parts),
        _summed(part.df for part in parts),
    )


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(sorted(total.items()))


def _by_id(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return dict(sorted(chain.from_iterable(part.items() for part in parts)))
