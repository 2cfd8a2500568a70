"""The shards of an index as one store: read together, changed one after another.

`Source` says where the shards are: in this process, where each has a thread, or in the actors of a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, Self, cast

from spanwise.errors import ShardsMissing

from ...index.ann import FROM, RECALL, OnProgress
from ...index.lexical import CorpusStatistics
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...index.writer import Writer
from .manifest import Manifest, shard_setting
from .shard import GetWhole, Reading
from .snapshot import Calls, Readings, ShardedSnapshot, commit_of


class Source(Protocol):
    """Where the shards of an index are searched."""

    def commits(self) -> Mapping[int, str]:
        """The digest of the last commit of each shard that can be reached, by number."""

    def settings(self) -> Mapping[str, str]:
        """The settings of the last commit."""

    def open(self) -> Readings:
        """The last commit of each shard that can be reached."""

    def close(self) -> None:
        """Let go of the shards."""


class ShardedStore(Store):
    """An index of shards. With `require_all`, ShardsMissing where one cannot be reached."""

    def __init__(self, path: Path, source: Source, require_all: bool = False) -> None:
        self.path, self._source, self._require_all = path, source, require_all
        self._n_shards, self._is_closed = len(Manifest.read(path).folders), False

    @classmethod
    def create_shards(
        cls, path: Path, n_shards: int, settings: Mapping[str, str], suffix: str = ""
    ) -> Manifest:
        """Make empty shards with these settings, where they are missing; the manifest, not yet written."""
        manifest = Manifest(tuple(f"shard-{number:04}{suffix}" for number in range(n_shards)))
        for number, folder in enumerate(manifest.paths(path)):
            if not (folder / "catalog.sqlite").is_file():
                Store.create(folder, {**settings, **shard_setting(number, n_shards)}).close()
        return manifest

    def close(self) -> None:
        """Close all shards. Idempotent."""
        self._is_closed = True
        self._source.close()

    @property
    def shards(self) -> list[Store]:
        """The shards, each an index of its own, opened anew to be changed; close them."""
        with ExitStack() as undo:
            found = [
                undo.enter_context(Store.open(path)) for path in Manifest.read(self.path).paths(self.path)
            ]
            undo.pop_all()
        return found

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the last commit."""
        self.check_open()
        return self._source.settings()

    def commit_digest(self) -> str:
        """The digest of the last commits of all shards that can be reached."""
        self.check_open()
        return commit_of(self._source.commits())

    def snapshot(self) -> Snapshot:
        """The last commit of each shard; ShardsMissing when none can be reached, or one that is required."""
        self.check_open()
        readings = self._source.open()
        snapshot = ShardedSnapshot(self.path, readings)
        if self._require_all and snapshot.partial:
            snapshot.close()
            raise ShardsMissing(
                f"only {snapshot.partial} of {self.path} can be reached: start the others again"
            )
        return snapshot

    def writer(self, timeout_s: float = 0.0) -> Writer:
        """A context manager for changes of all shards: settings, and vectors to drop."""
        return cast("Writer", _Writers(self.shards, timeout_s))

    def verify(self) -> list[str]:
        """One line for each damaged thing; reads every byte of all shards."""
        return list(chain.from_iterable(self._each(Store.verify)))

    def approximate(
        self, recall: float = RECALL, at_least: int = FROM, on_progress: OnProgress = lambda done, total: None
    ) -> bool:
        """Bring the FAISS indexes of all shards up to date, see `Store`."""
        return any(self._each(lambda shard: shard.approximate(recall, at_least, on_progress)))

    def _each(self, work: Callable[[Store], Any]) -> list[Any]:
        found = []
        for shard in self.shards:
            with shard:
                found.append(work(shard))
        return found


class _Writers:
    """The writers of all shards. The first shard commits last: its settings are those that count."""

    def __init__(self, shards: Sequence[Store], timeout_s: float) -> None:
        self._shards, self._timeout_s, self._open = shards, timeout_s, ExitStack()
        self._writers: list[Writer] = []

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            for shard in self._shards:
                undo.callback(shard.close)
            for shard in self._shards:
                self._writers.insert(0, undo.enter_context(shard.writer(self._timeout_s)))
            self._open = undo.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def set(self, key: str, value: str) -> None:
        for writer in self._writers:
            writer.set(key, value)

    def drop_vectors(self, model_digest: str) -> None:
        for writer in self._writers:
            writer.drop_vectors(model_digest)

    def drop_tokens(self, model_digest: str) -> None:
        for writer in self._writers:
            writer.drop_tokens(model_digest)

    def commit(self) -> int:
        return sum([writer.commit() for writer in self._writers])


class LocalSource:
    """Shards in this process: opened once, searched by a thread each."""

    def __init__(self, index: Path) -> None:
        with ExitStack() as undo:
            paths = Manifest.read(index).paths(index)
            self._stores = [undo.enter_context(Store.open(path)) for path in paths]
            self._open = undo.pop_all()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return ThreadPoolExecutor(min(len(self._stores), cores), "spanwise-shard")

    def commits(self) -> Mapping[int, str]:
        """The digest of the last commit of each shard."""
        return {number: store.commit_digest() for number, store in enumerate(self._stores)}

    def settings(self) -> Mapping[str, str]:
        """The settings of the last commit."""
        return self._stores[0].settings

    def open(self) -> Readings:
        """The last commit of each shard."""
        return _LocalReadings(self._stores, self._threads)

    def close(self) -> None:
        """Close the shards."""
        self._threads.shutdown(cancel_futures=True)
        self._open.close()


class _LocalReadings:
    def __init__(self, stores: Sequence[Store], threads: ThreadPoolExecutor) -> None:
        self._threads, self.n_shards = threads, len(stores)
        with ExitStack() as undo:
            self._readings = []
            for store in stores:
                self._readings.append(Reading(store))
                undo.callback(self._readings[-1].close)
            self._open = undo.pop_all()
        self.states = {number: one.state for number, one in enumerate(self._readings)}

    def gather(self, method: str, calls: Calls) -> dict[int, Any]:
        if len(calls) == 1:
            [(number, given)] = calls.items()
            return {number: self._readings[number].call(method, *given)}
        work = {
            number: self._threads.submit(self._readings[number].call, method, *given)
            for number, given in calls.items()
        }
        return {number: future.result() for number, future in work.items()}

    def share(self, whole: CorpusStatistics) -> GetWhole:
        return lambda: whole

    def reopen(self) -> bool:
        return all([one.snapshot.reopen() for one in self._readings])

    def end_transaction(self) -> None:
        for one in self._readings:
            one.snapshot.end_transaction()

    def close(self) -> None:
        self._open.close()
