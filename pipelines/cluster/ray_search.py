"""Shards searched on a Ray cluster: an actor for each replica of a shard, on different nodes if possible.

Ray places the actors, starts them again on another node after a failure, and carries the calls. What is here
chooses a replica: when one fails, another is asked. A shard without any counts as missing until one is back.
Every node must see the folder of the index under the same path.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from spanwise.errors import ShardsMissing, needing

from ...index.lexical import CorpusStatistics
from ...index.store import Store
from .manifest import Manifest
from .shard import GetWhole, Reading, ShardLost, ShardState
from .snapshot import Calls, Readings, settings_of

NAMESPACE = "spanwise"
CPU = 0.01  # that Ray sets aside for an actor: it waits most of the time
LOCAL = "local"
TIMEOUT_S = 30.0  # for a call of the last replica that is left
IMPATIENT_S = 1.0  # for a call while another replica is left: a dead node is noticed later
START_S = 60.0  # for the first answer of the replicas
KEPT_S = 60.0  # that a commit stays open after its last use
RETRY_S = 5.0  # that a replica which failed is asked after the others


def connect(address: str) -> None:
    """Connect to a cluster, unless this process is connected; "local" starts one on this machine."""
    with needing("ray"):
        import ray
    if not ray.is_initialized():
        where = {"_node_ip_address": "127.0.0.1", "include_dashboard": False} if address == LOCAL else {}
        ray.init(
            address=address,
            namespace=NAMESPACE,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **where,  # type: ignore[arg-type]
        )


class ShardActor:
    """One replica of a shard. A commit stays open while it is used, and a minute longer."""

    def __init__(self, path: str) -> None:
        self._store = Store.open(Path(path))
        self._open: dict[str, tuple[Reading, float]] = {}
        self._lock = Lock()
        Thread(target=self._close_unused, daemon=True).start()

    def state(self) -> ShardState:
        """The state of the last commit, which is opened."""
        with self._lock:
            commit = self._store.commit_digest()
            reading = self._open[commit][0] if commit in self._open else Reading(self._store)
            self._open[reading.state.commit] = reading, time.monotonic()
            return reading.state

    def call(self, commit: str, method: str, *given: Any) -> Any:
        """The result of a method of `Reading` for this commit; ShardLost when there is another one now."""
        if commit not in self._open:
            self.state()  # of a replica that was not asked before, or that started again
        with self._lock:
            if commit not in self._open:
                raise ShardLost(f"{self._store.path} was changed while it was searched: try again")
            reading, _ = self._open[commit]
            self._open[commit] = reading, time.monotonic()
            return reading.call(method, *given)

    def _close_unused(self) -> None:
        while True:
            time.sleep(KEPT_S / 4)
            with self._lock:
                now = time.monotonic()
                for commit in [one for one, (_, used) in self._open.items() if now - used > KEPT_S]:
                    self._open.pop(commit)[0].close()


class _Shared:
    """Statistics that lie in the cluster's memory and are fetched where they are needed."""

    def __init__(self, place: list[Any]) -> None:
        self._place = place

    def __call__(self) -> CorpusStatistics:
        import ray

        found: CorpusStatistics = ray.get(self._place[0])
        return found


def _group(path: Path, replicas: int, is_shared: bool) -> Any:
    """Places for the replicas of a shard, on different nodes if there are enough, also after a node died."""
    import ray

    if is_shared:
        with suppress(ValueError):  # nobody made it yet
            return ray.util.get_placement_group(str(path))
    kept = {"name": str(path), "lifetime": "detached"} if is_shared else {}
    return ray.util.placement_group([{"CPU": CPU}] * replicas, strategy="SPREAD", **kept)


def _replica(path: Path, number: int, group: Any, is_shared: bool) -> Any:
    """An actor of a shard; a shared one has a name, under which every process finds it."""
    import ray

    place = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy(group, number)
    actor = ray.remote(num_cpus=CPU, max_restarts=-1, scheduling_strategy=place)(ShardActor)
    if is_shared:
        name = f"{path} replica {number}"
        actor = actor.options(name=name, namespace=NAMESPACE, lifetime="detached", get_if_exists=True)
    return actor.remote(str(path))


class RaySource:
    """The replicas of all shards. They end with this source, or stay for others where they are shared."""

    def __init__(self, index: Path, replicas: int = 1, is_shared: bool = False) -> None:

        self._is_shared = is_shared
        self.paths = [path.resolve() for path in Manifest.read(index).paths(index)]
        if replicas < 1:
            raise ValueError(f"replicas is {replicas}, expected at least 1")
        self._groups = [_group(path, replicas, is_shared) for path in self.paths]
        self._replicas = [
            [_replica(path, at, group, is_shared) for at in range(replicas)]
            for path, group in zip(self.paths, self._groups, strict=True)
        ]
        self._failed: dict[tuple[int, int], float] = {}  # when a replica failed
        self._turn = 0
        self._states: Mapping[int, ShardState] = self.ask(
            {n: ("state",) for n in range(len(self.paths))}, START_S
        )

    def commits(self) -> Mapping[int, str]:
        """The digest of the last commit of each shard that can be reached, by number."""
        self._states = self.ask({number: ("state",) for number in range(len(self.paths))})
        return {number: state.commit for number, state in self._states.items()}

    def settings(self) -> Mapping[str, str]:
        """The settings of the commit that was looked up last."""
        return settings_of(self._reached())

    def open(self) -> Readings:
        """The commits that were looked up last."""
        return _RayReadings(self, self._reached())

    def close(self) -> None:
        """End the actors, unless they are shared."""
        import ray

        for group in () if self._is_shared else self._groups:
            ray.util.remove_placement_group(group)
        self._groups = []
        self._replicas = [[] for _ in self.paths]

    def ask(self, calls: Calls, timeout_s: float = TIMEOUT_S) -> dict[int, Any]:
        """The results of methods of `ShardActor`, without those of shards that have no replica left.

        All shards are asked at once, each by one replica in turn; where it fails, by the next one.
        """
        import ray

        found: dict[int, Any] = {}
        self._turn += 1
        plans = {number: self._plan(number) for number in calls}
        while plans:
            sent = []
            for number, plan in plans.items():
                if plan:
                    replica, (method, *given) = plan.pop(0), calls[number]
                    call = getattr(self._replicas[number][replica], method)
                    sent.append((number, replica, call.remote(*given), not plan))
            began, left = time.monotonic(), {}
            for number, replica, result, is_last in sent:
                until = began + (timeout_s if is_last else IMPATIENT_S)
                try:
                    found[number] = ray.get(result, timeout=max(0.01, until - time.monotonic()))
                    continue
                except ray.exceptions.RayTaskError as error:
                    raise error.cause or error from None
                except ray.exceptions.GetTimeoutError:
                    if not is_last:
                        plans[number].append(replica)  # it is asked again when the others fail
                except ray.exceptions.RayError:
                    pass  # the replica or its node died
                self._failed[number, replica] = time.monotonic()
                left[number] = plans[number]
            plans = left
        return found

    def _plan(self, number: int) -> list[int]:
        """The replicas of a shard in turn, those that failed lately behind the others."""
        n, since = len(self._replicas[number]), time.monotonic() - RETRY_S
        turn = [(self._turn + at) % n for at in range(n)]
        return sorted(turn, key=lambda at: self._failed.get((number, at), 0.0) > since)

    def _reached(self) -> Mapping[int, ShardState]:
        if not self._states:
            raise ShardsMissing("no shard of the index can be reached: is the cluster running?")
        return self._states


class _RayReadings:
    def __init__(self, source: RaySource, states: Mapping[int, ShardState]) -> None:
        self._source, self.states, self.n_shards = source, states, len(source.paths)

    def gather(self, method: str, calls: Calls) -> dict[int, Any]:
        sent = {n: ("call", self.states[n].commit, method, *given) for n, given in calls.items()}
        found = self._source.ask(sent)
        if lost := sent.keys() - found.keys():
            raise ShardLost(f"no replica of shard {min(lost)} can be reached: try again")
        return found

    def share(self, whole: CorpusStatistics) -> GetWhole:
        import ray

        return _Shared([ray.put(whole)])

    def reopen(self) -> bool:
        return True

    def end_transaction(self) -> None:
        """Nothing: the actors close what is not used."""

    close = end_transaction
