"""Makes shards, brings them up to date, and splits an index into another number of them.

Each shard is synced as a separate index, in this process or on a Ray cluster. On a cluster, tasks parse words
and actors encode vectors, both as maps of Ray Data with one shard per block. So a worker keeps one shard in
memory and writes to it alone, and the driver sees reports. A worker that dies leaves the last commit of its
shard, from which another worker continues. Every node must see the same paths.
"""

import logging
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import SpanwiseError
from spanwise.types import ProgressCallback, SyncReport, no_progress

from ...index.analysis import Analyzer
from ...index.shards import (
    SHARD,
    copy_documents,
    is_sharded,
    shard_folders,
    shard_of,
    write_manifest,
)
from ...index.store import Store
from ..folders import CATALOG_NAME, FOLDER_NAME
from ..library.loaded_models import MODEL
from ..parsing.sync import PASSAGES_PER_COMMIT, sync_dense, sync_tokens

MAX_SHARDS = 8192  # more would not leave the ids of passages exact in JSON
Work = Callable[[Path, ProgressCallback], Any]
"""A function that works on a shard and reports its progress."""


def create_shards(index: Path, n_shards: int, settings: Mapping[str, str]) -> None:
    """Make an index of empty shards; `ValueError` for a number or a place that shards cannot have."""
    _check(index, n_shards)
    write_manifest(index, [path.name for path in _empty_shards(index, n_shards, settings, "")])


def split_index(index: Path, n_shards: int) -> None:
    """Split an index, of shards or not, into `n_shards` shards; does nothing if it has as many.

    The new shards are made beside the old ones, which answer until the manifest is replaced. Documents,
    vectors and tokens are copied. An interrupted split starts again from the beginning.
    """
    _check(index, n_shards)
    sources = shard_folders(index) if is_sharded(index) else [index]
    if is_sharded(index) and len(sources) == n_shards:
        return
    generation = max(int(path.suffix[1:] or 1) for path in sources) + 1 if is_sharded(index) else 1
    suffix = f".{generation}" if generation > 1 else ""
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(path)) for path in sources]
        for store in stores:
            opened.enter_context(store.writer())  # so that nobody changes the sources
        snapshots = [opened.enter_context(store.snapshot()) for store in stores]
        for unfinished in set(index.glob("shard-*")) - set(sources):
            shutil.rmtree(unfinished)
        settings = {key: value for key, value in stores[0].settings.items() if key != SHARD}
        analyzer = Analyzer.from_settings(settings)
        new = _empty_shards(index, n_shards, settings, suffix)
        for number, path in enumerate(new):
            with Store.open(path) as target, target.writer() as writer:

                def belongs(document_id: str, number: int = number) -> bool:
                    return shard_of(document_id, n_shards) == number

                copy_documents(writer, snapshots, belongs, analyzer, PASSAGES_PER_COMMIT)
        write_manifest(index, [path.name for path in new])
    for path in sources if sources != [index] else (index / "segments", index / "cache"):
        shutil.rmtree(path, ignore_errors=True)
    for file in index.glob(f"{CATALOG_NAME}*"):
        file.unlink()


def _check(index: Path, n_shards: int) -> None:
    if not 1 <= n_shards <= MAX_SHARDS:
        raise ValueError(f"shards is {n_shards}, expected 1 to {MAX_SHARDS}")
    if index.name == FOLDER_NAME:
        raise ValueError(f"{FOLDER_NAME} cannot hold shards. Name another directory with --index DIR.")


def _empty_shards(index: Path, n_shards: int, settings: Mapping[str, str], suffix: str) -> list[Path]:
    paths = [index / f"shard-{number:04}{suffix}" for number in range(n_shards)]
    for number, path in enumerate(paths):
        if not (path / CATALOG_NAME).is_file():
            Store.create(path, {**settings, SHARD: f"{number}/{n_shards}"}).close()
    return paths


def run(
    make: Callable[[], Work], shards: Sequence[Path], report: ProgressCallback, on_ray: bool, actors: bool
) -> list[Any]:
    """The result of the work for each shard, in this process or on the Ray cluster.

    `make` returns the work. On the cluster it is called once in each actor (one per GPU where there are any),
    or else in each task.
    """
    if not shards:
        return []
    if not on_ray:
        work = make()
        return [work(shard, report) for shard in shards]
    import ray

    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)  # importing it sets another level
    resources: dict[str, Any] = {"num_cpus": 1}
    if actors:
        resources = {"num_gpus": 1} if ray.cluster_resources().get("GPU", 0) else resources
        resources["compute"] = ray.data.ActorPoolStrategy(min_size=1, max_size=len(shards))
        resources["fn_constructor_args"] = (make,)
    worker: Any = _Worker if actors else lambda batch: _Worker(make)(batch)
    data = ray.data.from_items([{"item": str(shard)} for shard in shards], override_num_blocks=len(shards))
    results: list[Any] = []
    for row in data.map_batches(worker, batch_size=1, **resources).iter_rows():
        if isinstance(row["item"], SpanwiseError):
            raise row["item"]
        results.append(row["item"])
        report("shards", len(results), len(shards))
    return results


class _Worker:
    def __init__(self, make: Callable[[], Work]) -> None:
        self._work = make()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        results = np.empty(1, object)
        try:
            results[0] = self._work(Path(str(batch["item"][0])), no_progress)
        except SpanwiseError as error:  # returned, because Ray retries a worker that raises
            results[0] = error
        return {"item": results}


def load_encoder(key: str, name: str) -> Any:
    """The encoder that a setting names, loaded in another process than the library's."""
    from ...models import encoder

    return encoder.load_encoder(name) if key == MODEL else encoder.load_token_encoder(name)


def sync_words(options: Mapping[str, Any]) -> Work:
    """Work that syncs the words of a shard; `options` are those of `Library.sync`."""
    from ..library.library import Library

    def work(shard: Path, report: ProgressCallback) -> SyncReport:
        with Library(Store.open(shard)) as library:
            return library.sync(vectors=False, on_progress=report, **options)

    return work


def encode(key: str, codebook_shard: Path | None, load: Callable[[], Any]) -> Work:
    """Work that encodes the passages of a shard that lack a vector, or tokens by one shared codebook."""
    encoder = load()

    def work(shard: Path, report: ProgressCallback) -> int:
        with Store.open(shard) as store:
            if key == MODEL:
                return sync_dense(store, encoder, report)
            with (
                Store.open(codebook_shard or shard) as other,
                other.snapshot() as snapshot,
                store.writer() as writer,
            ):
                codebook = snapshot.codebook(encoder.digest)
                if codebook and writer.codebook(encoder.digest) is None:
                    writer.put_codebook(encoder.digest, codebook)
                    writer.commit()
            return sync_tokens(store, encoder, report)

    return work


def first_of(shards: Sequence[Path], digest: str) -> Path:
    """The shard to encode before the others: one with a codebook of the model, or else with passages."""

    def rank(shard: Path) -> tuple[bool, bool]:
        with Store.open(shard) as store, store.snapshot() as snapshot:
            return snapshot.codebook(digest) is None, snapshot.n_passages == 0

    return min(shards, key=rank)


def merged(reports: Sequence[SyncReport]) -> SyncReport:
    """The report of several shards; the time is that of the slowest."""
    values: dict[str, Any] = {}
    for field in fields(SyncReport):
        parts: list[Any] = [getattr(report, field.name) for report in reports]
        match parts[0]:
            case int():
                values[field.name] = sum(parts)
            case float():
                values[field.name] = max(parts)
            case tuple():
                items = chain.from_iterable(parts)
                by_id = sorted(items, key=lambda item: str(getattr(item, "document_id", item)))
                values[field.name] = tuple(by_id)
            case _:
                values[field.name] = dict(sorted(sum(map(Counter, parts), Counter()).items()))
    return SyncReport(**values)
