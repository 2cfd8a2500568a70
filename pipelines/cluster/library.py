"""The library of an index of shards: the same questions and answers, over all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from spanwise.errors import ShardsMissing
from spanwise.types import ClusterOptions, ProgressCallback, SyncReport

from ...index.ann import FROM, RECALL, OnProgress
from ...index.shards import shard_folders
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...index.writer import Writer
from ..library.library import Library
from ..library.loaded_models import MODEL
from .indexing import encode, first_of, load_encoder, merged, run, sync_words
from .replicas import LocalShards, RayShards, connect
from .shard import ShardLost, ShardState
from .snapshot import ShardedSnapshot, commit_of, settings_of

T = TypeVar("T")

MAX_TRIES = 3


class ShardedStore(Store):
    """An index of shards, read together and changed one after another."""

    def __init__(self, path: Path, shards: LocalShards | RayShards, require_all: bool = False) -> None:
        self.path, self._shards, self._require_all = path, shards, require_all
        self._n_shards, self._is_closed = len(shard_folders(path)), False
        self._last: Mapping[int, ShardState] = {}

    def close(self) -> None:
        """Close all shards. Idempotent."""
        if not self._is_closed:
            self._is_closed = True
            self._shards.close()

    def _states(self) -> Mapping[int, ShardState]:
        """The last commit of each shard that can be reached, by number."""
        self.check_open()
        found = self._shards.ask({number: ("state",) for number in range(self._n_shards)})
        if not found:
            raise ShardsMissing("no shard of the index can be reached: is the cluster running?")
        self._last = found
        return found

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the commit that was looked up last."""
        self.check_open()
        return settings_of(self._last or self._states())

    def commit_digest(self) -> str:
        """The digest of the last commits of all shards that can be reached."""
        return commit_of(self._states())

    def snapshot(self) -> Snapshot:
        """The last commit of each shard; ShardsMissing when none can be reached, or one that is required."""
        found = ShardedSnapshot(self.path, self._shards, self._states(), self._n_shards)
        if self._require_all and found.left_out:
            raise ShardsMissing(
                f"only {found.left_out} of {self.path} can be reached: start the others again"
            )
        return cast("Snapshot", found)

    def writer(self, timeout_s: float = 0.0) -> Writer:
        """A context manager for changes of all shards: settings, and vectors to drop."""
        self._last = {}
        return cast("Writer", _Writers(shard_folders(self.path), timeout_s))

    def approximate(
        self, recall: float = RECALL, at_least: int = FROM, on_progress: OnProgress = lambda done, total: None
    ) -> bool:
        """Bring the FAISS indexes of all shards up to date, see `Store`."""
        is_written = False
        for path in shard_folders(self.path):
            with Store.open(path) as shard:
                is_written |= shard.approximate(recall, at_least, on_progress)
        return is_written


class _Writers(ExitStack):
    """The writers of all shards. The first shard commits last: its settings are those that count."""

    def __init__(self, paths: list[Path], timeout_s: float) -> None:
        super().__init__()
        self._paths, self._timeout_s, self._writers = paths, timeout_s, list[Writer]()

    def __enter__(self) -> _Writers:
        with ExitStack() as undo:
            for path in reversed(self._paths):
                store = undo.enter_context(Store.open(path))
                self._writers.append(undo.enter_context(store.writer(self._timeout_s)))
            self.push(undo.pop_all())
        return self

    def __getattr__(self, method: str) -> Callable[..., None]:
        def call_each(*given: Any) -> None:
            for writer in self._writers:
                getattr(writer, method)(*given)

        return call_each


class ShardedLibrary(Library):
    """An opened index of shards. A question whose shard is lost on the way is asked again without it."""

    def __init__(self, store: ShardedStore, cache: bool = False, on_ray: bool = False) -> None:
        super().__init__(store, cache)
        self._on_ray = on_ray

    def _sync_words(self, on_progress: ProgressCallback, **how: Any) -> SyncReport:
        how["workers"] = 1 if self._on_ray else how["workers"]
        make = partial(sync_words, how)
        return merged(run(make, shard_folders(self.store.path), on_progress, self._on_ray, actors=False))

    def _encode_missing(self, key: str, name: str, digest: str, on_progress: ProgressCallback) -> int:
        shards, load = shard_folders(self.store.path), partial(load_encoder, key, name)
        if not self._on_ray:
            load = partial(self._models.encoder if key == MODEL else self._models.token_encoder, name)
        first = None if key == MODEL else first_of(shards, digest)
        parts = [shards] if first is None else [[first], [shard for shard in shards if shard != first]]
        make = partial(encode, key, first, load)
        return sum(sum(run(make, part, on_progress, self._on_ray, actors=True)) for part in parts)


def _again(ask: Callable[..., T]) -> Callable[..., T]:
    @wraps(ask)
    def again(*given: Any, **changes: Any) -> T:
        for _ in range(MAX_TRIES - 1):
            with suppress(ShardLost):
                return ask(*given, **changes)
        return ask(*given, **changes)

    return again


for _method in (Library.search_many, Library.ask_many, Library.spelled, Library.explain, Library.summarize):
    setattr(ShardedLibrary, _method.__name__, _again(_method))


def open_shards(path: Path, cache: bool, options: ClusterOptions | None = None) -> ShardedLibrary:
    """The library of an index of shards, on this machine or on a cluster."""
    how, paths = options or ClusterOptions(), shard_folders(path)
    if how.address is None:
        return ShardedLibrary(ShardedStore(path, LocalShards(paths), how.require_all), cache)
    connect(how.address)
    shards = RayShards(paths, how.replicas)
    return ShardedLibrary(ShardedStore(path, shards, how.require_all), cache, on_ray=True)
