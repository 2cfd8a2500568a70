"""A server on a socket of its own: it says when it is there, and returns when it is told to stop.

What `spanwise serve` and `spanwise mcp --http` have in common.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from .guards.body import MOST_HEAD_BYTES
from .protocol import protocol_of
from .settings import Settings, in_url

BACKLOG = 1024


class ListeningServer(uvicorn.Server):
    """A server that calls `ready` once signals are heard, and does not end by the signal that stops it.

    `last_words_s` is how long connections may take to close when all work is done.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, last_words_s: int, ready: Callable[[], None]
    ) -> None:
        config = uvicorn.Config(
            app,
            log_level="critical",  # what goes wrong is logged by the application
            access_log=False,
            http=protocol_of(settings),
            loop="auto",  # uvloop where it is installed: what the loop does, the computing thread waits for
            ws="none",
            lifespan="on",
            h11_max_incomplete_event_size=MOST_HEAD_BYTES,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=last_words_s,
        )
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and says so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

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
