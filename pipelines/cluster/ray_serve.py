"""The server on a Ray cluster: Ray Serve runs its replicas, which share the actors of the shards.

Ray Serve scales the replicas with the load, checks their health, and lets one finish its requests before it
ends. The page, the routes and their limits are those of the server of one machine. The next question sees a
new commit of a shard, which opens it beside the one in use.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spanwise.types import SummaryOptions

from ..server.app import create_app
from ..server.security import Access
from .library import ShardedLibrary
from .manifest import ClusterOptions
from .ray_search import RaySource, connect
from .store import ShardedStore

NAME = "spanwise"
DRAIN_S = 20.0  # that a replica may finish its requests
MAX_REPLICAS = 8
ONGOING = 4  # requests that one replica works on at a time
AWAKE_S = 3600.0


def build(index: str, cluster: ClusterOptions, access: Access, options: SummaryOptions) -> Any:
    """The application of one replica, with a library over the shared actors of the shards."""
    source = RaySource(Path(index), cluster.replicas, is_shared=True)
    store = ShardedStore(Path(index), source, cluster.require_all)
    return create_app(ShardedLibrary(store), access, options)


def deploy(
    index: Path,
    cluster: ClusterOptions,
    access: Access,
    options: SummaryOptions,
    max_replicas: int = MAX_REPLICAS,
) -> None:
    """Start the server, or replace the running one replica by replica; it is ready on return."""
    from ray import serve

    path = str(index.resolve())

    def make() -> Any:
        return build(path, cluster, access, options)

    deployment = serve.deployment(
        name=NAME,
        max_ongoing_requests=ONGOING,
        graceful_shutdown_timeout_s=DRAIN_S,
        autoscaling_config={
            "min_replicas": 1,
            "max_replicas": max_replicas,
            "target_ongoing_requests": ONGOING / 2,
        },
    )(serve.ingress(make)())
    serve.start(http_options={"host": access.host, "port": access.port})
    serve.run(deployment.bind(), name=NAME, route_prefix="/")


def serve_on_ray(
    index: Path,
    cluster: ClusterOptions,
    access: Access,
    options: SummaryOptions,
    ready: Callable[[str], None],
) -> None:
    """Deploy and stay until Ctrl-C, which ends the server."""
    from ray import serve

    connect(str(cluster.address))
    deploy(index, cluster, access, options)
    ready(access.url)
    try:
        while True:
            time.sleep(AWAKE_S)
    except KeyboardInterrupt:
        serve.shutdown()
