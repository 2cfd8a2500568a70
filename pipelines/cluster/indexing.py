"""Bringing shards up to date: each is synced as an index of its own, with one codebook for all of them.

`sync_words` and `encode` work on one shard and are all that a worker runs. A worker that dies leaves the last
commit of its shard, and whoever takes the shard over goes on from there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from spanwise.types import ProgressCallback, SyncReport, no_progress

from ...index.maxsim.codebook import Codebook
from ...index.schema import indexed_text
from ...index.store import Store
from ..models import MODEL
from ..sync import SAMPLED, SEED, sync_dense, sync_tokens

if TYPE_CHECKING:
    from ...retrieval.protocol import TokenEncoder
    from ..sync import Parse

MAX_WORKERS = 4  # shards that one process parses side by side
COUNTED = {"unchanged", "found", "reused_vectors", "encoded_tokens", "passages"}


class Work(Protocol):
    """Who brings shards up to date."""

    def sync_words(
        self,
        shards: Sequence[Path],
        retry: bool,
        parsers: Mapping[str, Parse] | None,
        report: ProgressCallback,
    ) -> list[SyncReport]:
        """Make the words of all shards what the folders are now."""

    def encode(self, shards: Sequence[Path], key: str, name: str, report: ProgressCallback) -> int:
        """Encode the passages without vectors of a model, or tokens; returns their number."""


class LocalWork:
    """This process: parsers are its children. `load` gives the encoder of a setting."""

    def __init__(self, load: Callable[[str, str], Any], workers: int | None = None) -> None:
        self._load, self._workers = load, workers

    def sync_words(
        self,
        shards: Sequence[Path],
        retry: bool,
        parsers: Mapping[str, Parse] | None,
        report: ProgressCallback,
    ) -> list[SyncReport]:
        """Several shards at a time, each with a parser."""
        n = self._workers or min(MAX_WORKERS, os.cpu_count() or 1)
        bars = _Bars(report)

        def sync(at: int) -> SyncReport:
            return sync_words(shards[at], retry, parsers, bars.of(at))

        with ThreadPoolExecutor(min(n, len(shards)), "spanwise-sync") as threads:
            return list(threads.map(sync, range(len(shards))))

    def encode(self, shards: Sequence[Path], key: str, name: str, report: ProgressCallback) -> int:
        """One shard after another."""
        encoder = self._load(key, name)
        share_codebook(shards, key, encoder, report)
        return sum(encode(shard, key, encoder, report) for shard in shards)


class _Bars:
    """One progress of several shards."""

    def __init__(self, report: ProgressCallback) -> None:
        self._report, self._lock = report, Lock()
        self._done: dict[tuple[str, int], tuple[int, int]] = {}

    def of(self, shard: int) -> ProgressCallback:
        def tell(task: str, done: int, total: int) -> None:
            with self._lock:
                self._done[task, shard] = done, total
                all_done = [counts for (name, _), counts in self._done.items() if name == task]
                self._report(task, sum(one for one, _ in all_done), sum(one for _, one in all_done))

        return tell


def sync_words(
    shard: Path,
    retry: bool = False,
    parsers: Mapping[str, Parse] | None = None,
    report: ProgressCallback = no_progress,
    workers: int = 1,
) -> SyncReport:
    """Make the words of one shard what its share of the folders is now."""
    from ..library import Library

    with Library(Store.open(shard)) as library:
        return library.sync(False, report, workers, retry, parsers)


def encode(shard: Path, key: str, encoder: Any, report: ProgressCallback = no_progress) -> int:
    """Encode the passages of one shard that lack a vector, or tokens; returns their number."""
    with Store.open(shard) as store:
        return (sync_dense if key == MODEL else sync_tokens)(store, encoder, report)


def share_codebook(
    shards: Sequence[Path], key: str, encoder: Any, report: ProgressCallback = no_progress
) -> None:
    """Give every shard the codebook of tokens: that of another shard, or one trained on a sample of all.

    The sample is stored at once, so that nothing is encoded twice.
    """
    if key == MODEL:
        return
    books = {}
    for shard in shards:
        with Store.open(shard) as store, store.snapshot() as snapshot:
            books[shard] = snapshot.codebook(encoder.digest)
    found = next((book for book in books.values() if book), None)
    if found is None:
        _train(shards, encoder, report)
        return
    for shard in (shard for shard, book in books.items() if book is None):
        with Store.open(shard) as store, store.writer() as writer:
            writer.put_codebook(encoder.digest, found)
            writer.commit()


def _train(shards: Sequence[Path], encoder: TokenEncoder, report: ProgressCallback) -> None:
    missing, texts = [], list[str]()
    for shard in shards:
        with Store.open(shard) as store, store.snapshot() as snapshot:
            missing.append(snapshot.without_tokens(encoder.digest))
    total = sum(map(len, missing))
    if not total:
        return
    owner = np.repeat(np.arange(len(shards)), [len(ids) for ids in missing])
    chosen = np.sort(np.random.default_rng(SEED).permutation(total)[:SAMPLED])
    sampled = [np.concatenate(missing)[chosen[owner[chosen] == at]] for at in range(len(shards))]
    for shard, ids in zip(shards, sampled, strict=True):
        with Store.open(shard) as store, store.snapshot() as snapshot:
            texts += map(indexed_text, snapshot.passages(ids.tolist()))
    vectors, lengths = encoder.encode_passages(texts, lambda done: report("tokens", done, len(texts)))
    codebook = Codebook.train(vectors, len(vectors) * total // len(texts))
    ends, first = np.concatenate(([0], np.cumsum(lengths))), 0
    for shard, ids in zip(shards, sampled, strict=True):
        last = first + len(ids)
        with Store.open(shard) as store, store.writer() as writer:
            writer.put_codebook(encoder.digest, codebook)
            own = vectors[ends[first] : ends[last]]
            writer.put_tokens(encoder.digest, ids.tolist(), own, lengths[first:last])
            writer.commit()
        first = last


def merged(reports: Iterable[SyncReport]) -> SyncReport:
    """The report of several shards; the time is that of the slowest."""
    every = list(reports)
    values: dict[str, Any] = {name: sum(getattr(one, name) for one in every) for name in COUNTED}
    values["seconds"] = max(one.seconds for one in every)
    values["skipped"] = dict(sorted(sum((Counter(one.skipped) for one in every), Counter[str]()).items()))
    for field in fields(SyncReport):
        if field.name not in values:
            values[field.name] = tuple(
                sorted(chain.from_iterable(getattr(one, field.name) for one in every), key=_key)
            )
    return SyncReport(**values)


def _key(found: Any) -> str:
    return found if isinstance(found, str) else str(found.document_id)
