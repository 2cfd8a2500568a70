"""Shards brought up to date on a Ray cluster: words by tasks, vectors by actors, both as maps of Ray Data.

A block of the data set is one shard. So a worker keeps one shard in memory and writes to it alone, whatever
the size of the collection, and the driver sees reports. Ray runs the shard of a dead worker again: it goes on
from its last commit. Every node must see the folders and the index under the same paths.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spanwise.errors import SpanwiseError
from spanwise.types import ProgressCallback, SyncReport

from ..models import MODEL
from ..records import plain, rebuilt
from .indexing import encode, share_codebook, sync_words

if TYPE_CHECKING:
    from ..sync import Parse

Batch = dict[str, Any]


class RayWork:
    """The workers of the cluster that this process is connected to."""

    def sync_words(
        self,
        shards: Sequence[Path],
        retry: bool,
        parsers: Mapping[str, Parse] | None,
        report: ProgressCallback,
    ) -> list[SyncReport]:
        """A task for each shard."""
        given = {"retry": retry, "parsers": dict(parsers or {})}
        rows = self._mapped(shards, _SyncWords, report, "shards", fn_kwargs=given)
        return [rebuilt(SyncReport, json.loads(row)) for row in rows]

    def encode(self, shards: Sequence[Path], key: str, name: str, report: ProgressCallback) -> int:
        """A model in each actor, one a GPU where there are any; the codebook comes first."""
        import ray

        has_gpu = ray.cluster_resources().get("GPU", 0) > 0
        where: dict[str, Any] = {"num_gpus": 1} if has_gpu else {"num_cpus": 1}
        where |= {
            "fn_constructor_args": (key, name),
            "compute": ray.data.ActorPoolStrategy(min_size=1, max_size=len(shards)),
        }
        if key != MODEL:
            everything = "\n".join(map(str, shards))
            self._mapped([everything], _ShareCodebook, report, "codebook", **where)
        return sum(map(int, self._mapped(shards, _Encode, report, "vectors", **where)))

    def _mapped(
        self, items: Sequence[object], work: Any, report: ProgressCallback, task: str, **where: Any
    ) -> list[str]:
        """What the work gives for each item; the first named error of a worker is raised here."""
        import ray

        context, done = ray.data.DataContext.get_current(), []
        context.enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)  # its import set another level
        data = ray.data.from_items([{"item": str(item)} for item in items], override_num_blocks=len(items))
        function = work if isinstance(work, type) and "compute" in where else work()
        for row in data.map_batches(function, batch_size=1, **where).iter_rows():
            if row["error"]:
                raise SpanwiseError(row["error"])
            done.append(str(row["value"]))
            report(task, len(done), len(items))
        return done


class _Mapper:
    """A function of Ray Data; named errors are values, because they are no failure of the worker."""

    def __call__(self, batch: Batch, **given: Any) -> Batch:
        value, error = "", ""
        try:
            value = self.work(str(batch["item"][0]), **given)
        except SpanwiseError as found:
            error = f"{type(found).__name__}: {found}"
        return {"value": np.array([value]), "error": np.array([error])}

    def work(self, item: str, **given: Any) -> str:
        """The value for an item."""
        raise NotImplementedError


class _SyncWords(_Mapper):
    def work(self, item: str, **given: Any) -> str:
        return json.dumps(plain(sync_words(Path(item), **given)))


class _WithModel(_Mapper):
    """Keeps the encoder of a setting loaded."""

    def __init__(self, key: str, name: str) -> None:
        from ...models.encoder import load_encoder
        from ...models.token_encoder import load_token_encoder

        self._key = key
        self._encoder: Any = load_encoder(name) if key == MODEL else load_token_encoder(name)


class _Encode(_WithModel):
    def work(self, item: str, **given: Any) -> str:
        return str(encode(Path(item), self._key, self._encoder))


class _ShareCodebook(_WithModel):
    def work(self, item: str, **given: Any) -> str:
        share_codebook([Path(line) for line in item.splitlines()], self._key, self._encoder)
        return ""
