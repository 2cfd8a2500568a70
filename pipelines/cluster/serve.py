"""The server on a Ray cluster: Ray Serve runs its replicas, which share the actors of the shards.

Ray Serve scales the replicas with the load, checks their health, and lets one finish its requests before it
ends. The page, the routes and their limits are those of the server of one machine. The next question sees a
new commit of a shard.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spanwise.types import ClusterOptions, SummaryOptions

from ...index.shards import shard_folders
from ..server.app import create_app
from ..server.security import Access
from .library import ShardedLibrary, ShardedStore
from .replicas import RayShards, connect

DRAIN_S = 20.0  # for the requests of a replica that ends
MAX_REPLICAS = 8
MAX_REQUESTS = 4  # that one replica works on at a time


def serve_on_ray(
    index: Path,
    cluster: ClusterOptions,
    access: Access,
    options: SummaryOptions,
    ready: Callable[[str], None],
) -> None:
    """Start the server and stay until Ctrl-C, which ends it; `ready` gets the URL."""
    connect(str(cluster.address))
    from ray import serve

    path = index.resolve()
    shards = RayShards(shard_folders(index), cluster.replicas)

    def make() -> Any:
        store = ShardedStore(path, shards, cluster.require_all)
        return create_app(ShardedLibrary(store), access, options)

    deployment = serve.deployment(
        name="spanwise",
        max_ongoing_requests=MAX_REQUESTS,
        graceful_shutdown_timeout_s=DRAIN_S,
        autoscaling_config={
            "min_replicas": 1,
            "max_replicas": MAX_REPLICAS,
            "target_ongoing_requests": MAX_REQUESTS / 2,
        },
    )(serve.ingress(make)())
    serve.start(http_options={"host": access.host, "port": access.port})
    try:
        serve.run(deployment.bind(), name="spanwise", route_prefix="/")
        ready(access.url)
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        pass
    finally:
        serve.shutdown()
        shards.close()
