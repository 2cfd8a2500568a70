"""From a library to a process that serves it until it is told to stop."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import FrameType

import uvicorn

from ..library import Library
from .app import create_app
from .guards.body import MOST_HEAD_BYTES
from .protocol import protocol_of
from .service import Service
from .settings import Settings, in_url

BACKLOG = 1024
_LAST_WORDS_S = 2  # for connections to close, when all work is done


def serve_library(library: Library, settings: Settings, ready: Callable[[str], None]) -> bool:
    """Serves until SIGTERM or SIGINT; `ready` hears the address when requests can be sent.

    Then what is being worked on is finished, for at most `shutdown_s` seconds, and new requests get 503; a
    second signal ends at once. False when a computation still goes on.
    """
    listener = listening(settings.host, settings.port)
    settings = replace(settings, port=listener.getsockname()[1])
    app = create_app(library, settings)
    config = uvicorn.Config(
        app,
        log_level="critical",  # what goes wrong is logged by the application
        access_log=False,
        http=protocol_of(settings),
        ws="none",
        lifespan="on",
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_LAST_WORDS_S,
    )
    service: Service = app.state.service
    address = f"http://{in_url(settings.host)}:{settings.port}/"
    Server(config, service, partial(ready, address)).run([listener])
    return not service.is_stuck


class Server(uvicorn.Server):
    """A server that goes on answering while it finishes its work, and returns when it was told to stop."""

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._service, self._ready = service, ready
        self._end_at = float("inf")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and says so: from here on signals are heard."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Takes no new work from now on; the second time, waits for nothing."""
        if self._service.is_draining:
            self.should_exit = self.force_exit = True
        self._service.is_draining = True
        self._end_at = time.monotonic() + self._service.settings.shutdown_s

    async def on_tick(self, counter: int) -> bool:
        """Whether to end: when told so, and all work is done or its time over."""
        is_over = self._service.in_flight == 0 or time.monotonic() >= self._end_at
        return await super().on_tick(counter) or (self._service.is_draining and is_over)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Hears signals while it serves; unlike its parent it does not raise them again at the end."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; OSError says what is in the way."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(f"cannot listen on {in_url(host)}:{port}: {error.strerror or error}") from None
    listener.listen(BACKLOG)
    return listener
