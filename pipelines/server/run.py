"""The server: uvicorn with limits, or Ray Serve on a cluster.

Ray Serve runs replicas of the same application, which share the actors of the shards. It scales them with the
load, checks their health, and lets one finish its requests before it ends. The next question sees a new
commit of a shard.
"""

import signal
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from spanwise.types import ClusterOptions, SummaryOptions

from ...index.shards import shard_folders
from ..cluster.library import ShardedLibrary, ShardedStore
from ..cluster.replicas import RayShards, connect
from .app import create_app
from .security import Access, in_url

MAX_CONNECTIONS = 512
MAX_HEAD_BYTES = 16_384
HEAD_TIMEOUT_S = 10.0
SHUTDOWN_S = 10  # for requests in progress
DRAIN_S = 20.0  # for the requests of a replica that ends
MAX_REPLICAS = 8
MAX_REQUESTS = 4  # that one replica works on at a time

Say = Callable[[str], None]


class Protocol(H11Protocol):
    """HTTP/1.1 that closes a connection without a complete request head within `HEAD_TIMEOUT_S`."""

    _head: Any = None

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        super().connection_made(transport)
        self._head = self.loop.call_later(HEAD_TIMEOUT_S, transport.close)

    def data_received(self, data: bytes) -> None:
        """Stop the clock when the head of the first request is complete."""
        super().data_received(data)
        if self.cycle is not None:
            self._head.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._head.cancel()
        super().connection_lost(exc)


class Server(uvicorn.Server):
    """Calls `ready` once it accepts requests, and returns after SIGINT or SIGTERM."""

    def __init__(self, app: ASGIApp, ready: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            http=Protocol,
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept requests."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle signals while serving; unlike uvicorn, do not raise them again at the end."""
        handlers = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)


def serve(make: Callable[[Access], ASGIApp], access: Access, ready: Say) -> None:
    """Serve until SIGINT or SIGTERM; `ready` gets the URL. OSError when the address cannot be bound."""
    family = socket.AF_INET6 if ":" in access.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((access.host, access.port))
        except OSError as error:
            where = f"{in_url(access.host)}:{access.port}"
            raise OSError(f"cannot listen on {where}: {error.strerror or error}") from None
        access = replace(access, port=listener.getsockname()[1])
        Server(make(access), lambda: ready(access.url)).run([listener])


def serve_on_ray(
    index: Path,
    cluster: ClusterOptions,
    access: Access,
    options: SummaryOptions,
    ready: Say,
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
