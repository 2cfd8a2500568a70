"""The library of an index of shards: the same questions and answers, over all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spanwise.types import Answer, Hit, ProgressCallback, Summary, SyncReport, no_progress

from ..library import Library
from ..models import MODEL
from .indexing import LocalWork, Work, merged
from .manifest import ClusterOptions, Manifest
from .shard import ShardLost
from .snapshot import ShardedSnapshot
from .store import LocalSource, ShardedStore, Source

if TYPE_CHECKING:
    from ..explain import Explanation
    from ..spelling import Spelling
    from ..sync import Parse

T = TypeVar("T")

MAX_TRIES = 3


class ShardedLibrary(Library):
    """An opened index of shards. A question whose shard is lost on the way is asked again without it."""

    def __init__(self, store: ShardedStore, cache: bool = False, work: Work | None = None) -> None:
        super().__init__(store, cache)
        self._work = work or LocalWork(self._load_encoder)

    def sync(
        self,
        vectors: bool = True,
        on_progress: ProgressCallback = no_progress,
        workers: int | None = None,
        retry: bool = False,
        parsers: Mapping[str, Parse] | None = None,
    ) -> SyncReport:
        """See `Library`; only the shards of changed files change."""
        began = time.monotonic()
        report = merged(self._work.sync_words(self._shards, retry, parsers, on_progress))
        return self._with_vectors(report, began, on_progress) if vectors else report

    def _encode_missing(self, key: str, name: str, on_progress: ProgressCallback) -> int:
        return self._work.encode(self._shards, key, name, on_progress)

    def _load_encoder(self, key: str, name: str) -> Any:
        return self._models.encoder(name) if key == MODEL else self._models.token_encoder(name)

    @property
    def _shards(self) -> list[Path]:
        return Manifest.read(self.store.path).paths(self.store.path)

    # Questions

    @property
    def partial(self) -> str:
        """Which part of the index the last question searched, such as "7 of 8 shards"; "" for all of it."""
        view = self._views.last
        return view.snapshot.partial if view and isinstance(view.snapshot, ShardedSnapshot) else ""

    def search_many(self, *given: Any, **changes: Any) -> list[list[Hit]]:
        """See `Library`."""
        return _again(lambda: super(ShardedLibrary, self).search_many(*given, **changes))

    def ask_many(self, *given: Any, **changes: Any) -> list[Answer]:
        """See `Library`; an answer from some of the shards says so in `Answer.partial`."""
        answers = _again(lambda: super(ShardedLibrary, self).ask_many(*given, **changes))
        return [replace(one, partial=self.partial) for one in answers] if self.partial else answers

    def spelled(self, question: str) -> Spelling:
        """See `Library`."""
        return _again(lambda: super(ShardedLibrary, self).spelled(question))

    def explain(self, *given: Any, **changes: Any) -> Explanation:
        """See `Library`."""
        return _again(lambda: super(ShardedLibrary, self).explain(*given, **changes))

    def summarize(self, *given: Any, **changes: Any) -> Summary:
        """See `Library`."""
        return _again(lambda: super(ShardedLibrary, self).summarize(*given, **changes))


def _again(ask: Callable[[], T]) -> T:
    for _ in range(MAX_TRIES - 1):
        try:
            return ask()
        except ShardLost:
            continue
    return ask()


def open_shards(path: Path, cache: bool, options: ClusterOptions | None = None) -> ShardedLibrary:
    """The library of an index of shards, on this machine or on a cluster."""
    how, source, work = options or ClusterOptions(), None, None
    if how.address is not None:
        from .ray_index import RayWork
        from .ray_search import RaySource, connect

        connect(how.address)
        source, work = RaySource(path, how.replicas), RayWork()
    found: Source = source or LocalSource(path)
    return ShardedLibrary(ShardedStore(path, found, how.require_all), cache, work)
