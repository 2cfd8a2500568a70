"""Making shards, bringing them up to date, and splitting an index anew.

Each shard is synced as an index of its own, in this process or on a Ray cluster: there words are parsed by
tasks and vectors encoded by actors, both as maps of Ray Data with one shard a block. So a worker keeps one
shard in memory and writes to it alone, and the driver sees reports. A worker that dies leaves the last commit
of its shard, and the one that takes over goes on from there. Every node must see the same paths.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import SpanwiseError
from spanwise.types import ProgressCallback, SyncReport, no_progress

from ...index.analysis import Analyzer
from ...index.copying import copy_documents
from ...index.shards import SHARD, is_sharded, shard_folders, shard_of, write_manifest
from ...index.store import Store
from ..folders import CATALOG_NAME, FOLDER_NAME
from ..library.loaded_models import MODEL
from ..parsing.sync import PASSAGES_PER_COMMIT, sync_dense, sync_tokens

MAX_SHARDS = 8192  # more would not leave the ids of passages exact in JSON
COUNTED = ("unchanged", "found", "reused_vectors", "encoded_tokens", "passages")
Work = Callable[[Path, ProgressCallback], Any]
"""What is done to a shard, and its progress."""


def create_shards(index: Path, n_shards: int, settings: Mapping[str, str]) -> None:
    """Make an index of empty shards; `ValueError` for a number, or a place of them, that cannot be."""
    _check(index, n_shards)
    write_manifest(index, [path.name for path in _empty_shards(index, n_shards, settings, "")])


def split_index(index: Path, n_shards: int) -> None:
    """Make an index, of shards or not, consist of `n_shards` shards; nothing where it does already.

    The new shards are made beside the old ones, which answer until one write of the manifest replaces them.
    Documents, vectors and tokens are copied. An interrupted split is begun again.
    """
    _check(index, n_shards)
    sources = shard_folders(index) if is_sharded(index) else [index]
    if is_sharded(index) and len(sources) == n_shards:
        return
    generation = max(int(path.suffix[1:] or 1) for path in sources) + 1 if is_sharded(index) else 1
    suffix = f".{generation}" if generation > 1 else ""
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(path)) for path in sources]
        for store in stores:  # nobody may change what is copied
            opened.enter_context(store.writer())
        snapshots = [opened.enter_context(store.snapshot()) for store in stores]
        for left in set(index.glob("shard-*")) - set(sources):
            shutil.rmtree(left)  # of an interrupted split
        settings = {key: value for key, value in stores[0].settings.items() if key != SHARD}
        analyzer, new = Analyzer.from_settings(settings), _empty_shards(index, n_shards, settings, suffix)
        for number, path in enumerate(new):
            with Store.open(path) as target, target.writer() as writer:
                wanted = partial(_belongs, number, n_shards)
                copy_documents(writer, snapshots, wanted, analyzer, PASSAGES_PER_COMMIT)
        write_manifest(index, [path.name for path in new])
    for path in sources if sources != [index] else (index / "segments", index / "cache"):
        shutil.rmtree(path, ignore_errors=True)
    for file in index.glob(f"{CATALOG_NAME}*"):
        file.unlink()


def _check(index: Path, n_shards: int) -> None:
    if not 1 <= n_shards <= MAX_SHARDS:
        raise ValueError(f"shards is {n_shards}, expected 1 to {MAX_SHARDS}")
    if index.name == FOLDER_NAME:
        raise ValueError(f"shards are not kept in {FOLDER_NAME}: name another place with --index DIR")


def _empty_shards(index: Path, n_shards: int, settings: Mapping[str, str], suffix: str) -> list[Path]:
    paths = [index / f"shard-{number:04}{suffix}" for number in range(n_shards)]
    for number, path in enumerate(paths):
        if not (path / CATALOG_NAME).is_file():
            Store.create(path, {**settings, SHARD: f"{number}/{n_shards}"}).close()
    return paths


def _belongs(number: int, n_shards: int, document_id: str) -> bool:
    return shard_of(document_id, n_shards) == number


def run(
    make: Callable[[], Work], shards: Sequence[Path], report: ProgressCallback, on_ray: bool, actors: bool
) -> list[Any]:
    """What the work that `make` gives does for each shard: in this process, or on the Ray cluster.

    There it is made once in each actor, one a GPU where there are any, or else anew in the task of a shard.
    """
    if not on_ray:
        work = make() if shards else None
        return [work(shard, report) for shard in shards if work]
    import ray

    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)  # its import set another level
    where: dict[str, Any] = {"num_cpus": 1}
    if actors:
        where = {"num_gpus": 1} if ray.cluster_resources().get("GPU", 0) else where
        where["compute"] = ray.data.ActorPoolStrategy(min_size=1, max_size=max(1, len(shards)))
        where["fn_constructor_args"] = (make,)
    worker: Any = _Worker if actors else lambda batch: _Worker(make)(batch)
    items, done = [{"item": str(shard)} for shard in shards], list[Any]()
    data = ray.data.from_items(items, override_num_blocks=max(1, len(items)))
    for row in data.map_batches(worker, batch_size=1, **where).iter_rows() if items else ():
        if isinstance(row["item"], SpanwiseError):
            raise row["item"]
        done.append(row["item"])
        report("shards", len(done), len(items))
    return done


class _Worker:
    def __init__(self, make: Callable[[], Work]) -> None:
        self._work = make()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        found = np.empty(1, object)
        try:
            found[0] = self._work(Path(str(batch["item"][0])), no_progress)
        except SpanwiseError as error:  # a value: it is no failure of the worker
            found[0] = error
        return {"item": found}


def load_encoder(key: str, name: str) -> Any:
    """The encoder of a setting, in a process of its own."""
    from ...models import encoder

    return encoder.load_encoder(name) if key == MODEL else encoder.load_token_encoder(name)


def sync_words(how: Mapping[str, Any]) -> Work:
    """Makes the words of one shard what its share of the folders is now; for `how` see `Library.sync`."""
    from ..library.library import Library

    def work(shard: Path, report: ProgressCallback) -> SyncReport:
        with Library(Store.open(shard)) as library:
            return library.sync(vectors=False, on_progress=report, **how)

    return work


def encode(key: str, like: Path | None, load: Callable[[], Any]) -> Work:
    """Encodes the passages of a shard that lack a vector, or tokens by the codebook of the shard `like`."""
    encoder = load()

    def work(shard: Path, report: ProgressCallback) -> int:
        with Store.open(shard) as store:
            if key == MODEL:
                return sync_dense(store, encoder, report)
            with Store.open(like or shard) as other, other.snapshot() as snapshot, store.writer() as writer:
                book = snapshot.codebook(encoder.digest)
                if book and writer.codebook(encoder.digest) is None:
                    writer.put_codebook(encoder.digest, book)
                    writer.commit()
            return sync_tokens(store, encoder, report)

    return work


def first_of(shards: Sequence[Path], digest: str) -> Path:
    """The shard that is encoded before the others: one with a codebook of the model, or with passages."""
    ranks = []
    for shard in shards:
        with Store.open(shard) as store, store.snapshot() as snapshot:
            ranks.append((snapshot.codebook(digest) is None, snapshot.n_passages == 0))
    return shards[ranks.index(min(ranks))]


def merged(reports: Iterable[SyncReport]) -> SyncReport:
    """The report of several shards; the time is that of the slowest."""
    every = list(reports)
    values: dict[str, Any] = {name: sum(getattr(one, name) for one in every) for name in COUNTED}
    values["seconds"] = max(one.seconds for one in every)
    values["skipped"] = dict(sorted(sum((Counter(one.skipped) for one in every), Counter[str]()).items()))
    for name in {field.name for field in fields(SyncReport)} - values.keys():
        found = chain.from_iterable(getattr(one, name) for one in every)
        values[name] = tuple(sorted(found, key=lambda one: str(getattr(one, "document_id", one))))
    return SyncReport(**values)
