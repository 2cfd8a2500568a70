"""Where shards are searched: by threads of this process, or by actors of a Ray cluster.

Ray places the actors of a shard on different nodes if it can, starts them again after a failure, and carries
the calls. This module chooses a replica; when one fails, another is asked. A shard without replicas counts as
missing until one is back. Every node must see the index under the same path.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from spanwise.errors import needing

from ...index.live_postings import CorpusStatistics
from .shard import GetStatistics, Shard

CPU = 0.01  # that Ray reserves for an actor, which waits most of the time
LOCAL = "local"
THREADED = {"lexical", "ranked", "all_statistics"}  # methods that are worth a thread for each shard
START_S = 60.0  # for the first answer of a replica that is being started
TIMEOUT_S = 30.0  # for a call of the last replica that is left
IMPATIENT_S = 1.0  # for a call while another replica is left: a dead node is noticed later
RETRY_S = 5.0  # after a failure, in which a replica is asked after the others

Arguments = tuple[Any, ...]
Calls = Mapping[int, Arguments]
"""The method of `Shard` to call and its arguments, by the number of the shard."""


class LocalShards:
    """Shards in this process, each searched by one thread at a time."""

    def __init__(self, paths: Sequence[Path]) -> None:
        with ExitStack() as undo:
            self._shards = [undo.enter_context(closing(Shard(path))) for path in paths]
            self._open = undo.pop_all()
        self._threads = ThreadPoolExecutor(min(len(paths), os.cpu_count() or 1), "spanwise-shard")

    def ask(self, calls: Calls) -> dict[int, Any]:
        """The results of methods of `Shard`, by the number of the shard, without shards that are gone."""

        def call(number: int) -> Any:
            method, *arguments = calls[number]
            return getattr(self._shards[number], method)(*arguments)

        is_threaded = any(
            method == "call" and arguments[1] in THREADED for method, *arguments in calls.values()
        )
        results = self._threads.map(call, calls) if is_threaded else map(call, calls)
        return dict(zip(calls, results, strict=True))

    def share(self, statistics: CorpusStatistics) -> GetStatistics:
        """A function that gives these statistics to every shard."""
        return lambda: statistics

    def close(self) -> None:
        """Close the shards."""
        self._threads.shutdown(cancel_futures=True)
        self._open.close()


class RayShards:
    """Actors for the replicas of all shards; they end with the process that made them, or with `close`."""

    def __init__(self, paths: Sequence[Path], replicas: int = 1) -> None:
        import ray

        if replicas < 1:
            raise ValueError(f"replicas is {replicas}, expected at least 1")
        in_group: Callable[..., Any] = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy
        actor = ray.remote(num_cpus=CPU, max_restarts=-1)(Shard)
        self._turn = 0
        self._failed_at: dict[tuple[int, int], float] = {}
        self._groups = [ray.util.placement_group([{"CPU": CPU}] * replicas, strategy="SPREAD") for _ in paths]
        self._replicas = [
            [
                actor.options(scheduling_strategy=in_group(group, bundle)).remote(str(path.resolve()))
                for bundle in range(replicas)
            ]
            for path, group in zip(paths, self._groups, strict=True)
        ]
        self.ask({number: ("state",) for number in range(len(paths))}, START_S)

    def ask(self, calls: Calls, timeout_s: float = TIMEOUT_S) -> dict[int, Any]:
        """As for `LocalShards`. All are asked at once, each by one replica in turn, or else by the next."""
        import ray

        results: dict[int, Any] = {}
        self._turn += 1
        plans = {number: self._plan(number) for number in calls}
        while plans := {number: plan for number, plan in plans.items() if plan}:
            began = time.monotonic()
            sent = {}
            for number, plan in plans.items():
                method, *arguments = calls[number]
                replica = plan.pop(0)
                sent[number] = replica, getattr(self._replicas[number][replica], method).remote(*arguments)
            for number, (replica, reference) in sent.items():
                until = began + (IMPATIENT_S if plans[number] else timeout_s)
                try:
                    results[number] = ray.get(reference, timeout=max(0.01, until - time.monotonic()))
                    plans[number] = []
                except ray.exceptions.RayTaskError as error:
                    raise error.cause or error from None
                except ray.exceptions.RayError:  # it is slow, or died, or its node did
                    self._failed_at[number, replica] = time.monotonic()
        return results

    def share(self, statistics: CorpusStatistics) -> GetStatistics:
        """As for `LocalShards`; they are kept once, in the cluster's memory."""
        import ray

        reference = ray.put(statistics)
        return lambda: ray.get(reference)

    def close(self) -> None:
        """End the actors."""
        import ray

        for group in self._groups:
            ray.util.remove_placement_group(group)
        self._groups = []
        self._replicas = [[] for _ in self._replicas]

    def _plan(self, number: int) -> list[int]:
        """The replicas of a shard in turn, with recent failures last; each twice if there are several."""
        n_replicas = len(self._replicas[number])
        since = time.monotonic() - RETRY_S
        turn = [(self._turn + step) % n_replicas for step in range(n_replicas)]
        turn.sort(key=lambda replica: self._failed_at.get((number, replica), 0.0) > since)
        return turn * min(n_replicas, 2)


Shards = LocalShards | RayShards


def connect(address: str) -> None:
    """Connect to a cluster, unless this process is connected; "local" starts one on this machine."""
    with needing("ray"):
        import ray
    if ray.is_initialized():
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:
        options |= {"_node_ip_address": "127.0.0.1", "include_dashboard": False}
    ray.init(address=address, **options)
