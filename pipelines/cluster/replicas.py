"""Where shards are searched: by threads of this process, or by actors of a Ray cluster.

Ray places the actors of a shard on different nodes if it can, starts them again elsewhere after a failure,
and carries the calls. What is here chooses a replica: when one fails, another is asked. A shard without any
counts as missing until one is back. Every node must see the index under the same path.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from spanwise.errors import needing

from ...index.live_postings import CorpusStatistics
from .shard import GetWhole, Shard

CPU = 0.01  # that Ray sets aside for an actor: it waits most of the time
LOCAL = "local"
LONG = {"lexical", "ranked", "all_statistics"}  # methods that are worth a thread for each shard
START_S = 60.0  # for the first answer of a replica that is being started
TIMEOUT_S = 30.0  # for a call of the last replica that is left
IMPATIENT_S = 1.0  # for a call while another replica is left: a dead node is noticed later
RETRY_S = 5.0  # that a replica which failed is asked after the others

Calls = Mapping[int, tuple[Any, ...]]


class LocalShards:
    """Shards in this process, each searched by one thread at a time."""

    def __init__(self, paths: Sequence[Path]) -> None:
        with ExitStack() as undo:
            self._shards = [undo.enter_context(closing(Shard(path))) for path in paths]
            self._open = undo.pop_all()
        self._threads = ThreadPoolExecutor(min(len(paths), os.cpu_count() or 1), "spanwise-shard")

    def ask(self, calls: Calls) -> dict[int, Any]:
        """See `RayShards`."""

        def call(number: int) -> Any:
            method, *given = calls[number]
            return getattr(self._shards[number], method)(*given)

        is_long = not LONG.isdisjoint(one[2] for one in calls.values() if one[0] == "call")
        return dict(zip(calls, (self._threads.map if is_long else map)(call, calls), strict=True))

    def share(self, whole: CorpusStatistics) -> GetWhole:
        """See `RayShards`."""
        return lambda: whole

    def close(self) -> None:
        """See `RayShards`."""
        self._threads.shutdown(cancel_futures=True)
        self._open.close()


class RayShards:
    """Actors for the replicas of all shards; they end with the process that made them, or with `close`."""

    def __init__(self, paths: Sequence[Path], replicas: int = 1) -> None:
        import ray

        if replicas < 1:
            raise ValueError(f"replicas is {replicas}, expected at least 1")
        self._turn, self._failed = 0, dict[tuple[int, int], float]()  # when a replica failed
        place, self._replicas = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy, []
        self._groups = [ray.util.placement_group([{"CPU": CPU}] * replicas, strategy="SPREAD") for _ in paths]
        actor = ray.remote(num_cpus=CPU, max_restarts=-1)(Shard)
        for path, group in zip(paths, self._groups, strict=True):
            places = [place(group, at) for at in range(replicas)]
            some = [actor.options(scheduling_strategy=one).remote(str(path.resolve())) for one in places]
            self._replicas.append(some)
        self.ask({number: ("state",) for number in range(len(paths))}, START_S)

    def ask(self, calls: Calls, timeout_s: float = TIMEOUT_S) -> dict[int, Any]:
        """The results of methods of `Shard`, by the number of the shard, without shards that are gone.

        All are asked at once, each by one replica in turn; where it fails, by the next one.
        """
        import ray

        found: dict[int, Any] = {}
        self._turn += 1
        plans = {number: self._plan(number) for number in calls}
        while plans := {number: plan for number, plan in plans.items() if plan}:
            sent, began = {}, time.monotonic()
            for number, plan in plans.items():
                replica, (method, *given) = plan.pop(0), calls[number]
                sent[number] = replica, getattr(self._replicas[number][replica], method).remote(*given)
            for number, (replica, result) in sent.items():
                until = began + (IMPATIENT_S if plans[number] else timeout_s)
                try:
                    found[number] = ray.get(result, timeout=max(0.01, until - time.monotonic()))
                    plans[number] = []
                except ray.exceptions.RayTaskError as error:
                    raise error.cause or error from None
                except ray.exceptions.RayError:  # it is slow, or died, or its node did
                    self._failed[number, replica] = time.monotonic()
        return found

    def share(self, whole: CorpusStatistics) -> GetWhole:
        """A function that gives every shard these statistics, from the cluster's memory."""
        import ray

        place = ray.put(whole)
        return lambda: ray.get(place)

    def close(self) -> None:
        """End the actors."""
        import ray

        for group in self._groups:
            ray.util.remove_placement_group(group)
        self._replicas, self._groups = [[] for _ in self._replicas], []

    def _plan(self, number: int) -> list[int]:
        """The replicas of a shard in turn, those that failed lately last; each twice if there are several."""
        n, since = len(self._replicas[number]), time.monotonic() - RETRY_S
        turn = [(self._turn + at) % n for at in range(n)]
        return sorted(turn, key=lambda at: self._failed.get((number, at), 0.0) > since) * min(n, 2)


def connect(address: str) -> None:
    """Connect to a cluster, unless this process is connected; "local" starts one on this machine."""
    with needing("ray"):
        import ray
    if not ray.is_initialized():
        here = {"_node_ip_address": "127.0.0.1", "include_dashboard": False} if address == LOCAL else {}
        how: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, **here}
        ray.init(address=address, **how)
