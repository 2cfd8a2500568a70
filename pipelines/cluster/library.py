"""The library of an index of shards: the same questions and answers, over all of them."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from spanwise.errors import ShardsMissing
from spanwise.types import ClusterOptions, ProgressCallback, SyncReport, no_progress

from ...index.ann import MIN_VECTORS
from ...index.shards import shard_folders
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...index.writer import Writer
from ..library.library import Library
from ..library.loaded_models import MODEL
from .indexing import encode, first_of, load_encoder, merged, run, sync_words
from .replicas import LocalShards, RayShards, Shards, connect
from .shard import ShardLost, ShardState
from .snapshot import ShardedSnapshot, commit_of, settings_of

T = TypeVar("T")

MAX_TRIES = 3


class ShardedStore(Store):
    """An index of shards, read together and changed one after another."""

    def __init__(self, path: Path, shards: Shards, require_all: bool = False) -> None:
        self.path = path
        self._shards = shards
        self._require_all = require_all
        self._n_shards = len(shard_folders(path))
        self._is_closed = False
        self._last_states: Mapping[int, ShardState] = {}

    def close(self) -> None:
        """Close all shards. Idempotent."""
        self._is_closed = True
        self._shards.close()

    def _states(self) -> Mapping[int, ShardState]:
        """The last commit of each shard that can be reached, by number."""
        self.check_open()
        states = self._shards.ask({number: ("state",) for number in range(self._n_shards)})
        if not states:
            raise ShardsMissing("no shard of the index can be reached: is the cluster running?")
        self._last_states = states
        return states

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the commit that was looked up last."""
        self.check_open()
        return settings_of(self._last_states or self._states())

    def commit_digest(self) -> str:
        """The digest of the last commits of all shards that can be reached."""
        return commit_of(self._states())

    def snapshot(self) -> Snapshot:
        """The last commit of each shard; ShardsMissing when none can be reached, or one that is required."""
        snapshot = ShardedSnapshot(self.path, self._shards, self._states(), self._n_shards)
        if self._require_all and snapshot.left_out:
            raise ShardsMissing(
                f"only {snapshot.left_out} of {self.path} can be reached: start the others again"
            )
        return cast("Snapshot", snapshot)

    def change(self, apply: Callable[[Writer], None]) -> None:
        """Commit what `apply` changes in all shards; the first one, whose settings count, commits last."""
        self._last_states = {}
        with ExitStack() as opened:
            stores = [opened.enter_context(Store.open(path)) for path in reversed(shard_folders(self.path))]
            writers = [opened.enter_context(store.writer()) for store in stores]
            for writer in writers:
                apply(writer)
            for writer in writers:
                writer.commit()

    def approximate(self, at_least: int = MIN_VECTORS, on_progress: ProgressCallback = no_progress) -> bool:
        """Bring the FAISS indexes of all shards up to date, see `Store`."""
        is_written = False
        for path in shard_folders(self.path):
            with Store.open(path) as shard:
                is_written |= shard.approximate(at_least, on_progress)
        return is_written


class ShardedLibrary(Library):
    """An opened index of shards. A question during which a shard is lost is asked again without it."""

    def __init__(self, store: ShardedStore, cache: bool = False, on_ray: bool = False) -> None:
        super().__init__(store, cache)
        self._on_ray = on_ray

    def _sync_words(self, on_progress: ProgressCallback, **options: Any) -> SyncReport:
        if self._on_ray:
            options["workers"] = 1
        make = partial(sync_words, options)
        return merged(run(make, shard_folders(self.store.path), on_progress, self._on_ray, actors=False))

    def _encode_missing(self, key: str, name: str, digest: str, on_progress: ProgressCallback) -> int:
        shards = shard_folders(self.store.path)
        load = partial(load_encoder, key, name)
        if not self._on_ray:
            load = partial(self._models.encoder if key == MODEL else self._models.token_encoder, name)
        first = None if key == MODEL else first_of(shards, digest)
        parts = [shards] if first is None else [[first], [shard for shard in shards if shard != first]]
        make = partial(encode, key, first, load)
        return sum(sum(run(make, part, on_progress, self._on_ray, actors=True)) for part in parts)


def _with_retries(ask: Callable[..., T]) -> Callable[..., T]:
    @wraps(ask)
    def ask_again(*arguments: Any, **options: Any) -> T:
        for _ in range(MAX_TRIES - 1):
            with suppress(ShardLost):
                return ask(*arguments, **options)
        return ask(*arguments, **options)

    return ask_again


for _method in (
    Library.search_many,
    Library.ask_many,
    Library.mentions,
    Library.explain,
    Library.summarize,
):
    setattr(ShardedLibrary, _method.__name__, _with_retries(_method))


def open_shards(path: Path, cache: bool, options: ClusterOptions | None = None) -> ShardedLibrary:
    """The library of an index of shards, on this machine or on a cluster."""
    cluster = options or ClusterOptions()
    paths = shard_folders(path)
    if cluster.address is None:
        return ShardedLibrary(ShardedStore(path, LocalShards(paths), cluster.require_all), cache)
    connect(cluster.address)
    shards = RayShards(paths, cluster.replicas)
    return ShardedLibrary(ShardedStore(path, shards, cluster.require_all), cache, on_ray=True)
