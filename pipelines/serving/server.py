"""From a library to a process that serves it until it is told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

from starlette.types import ASGIApp

from ..library import Library
from .app import create_app
from .index_watch import PATIENCE_S, IndexWatch
from .listening import ListeningServer, listening
from .service import Service
from .settings import Settings, in_url

_LAST_WORDS_S = 2  # for connections to close, when all work is done


def serve_library(
    library: Library, settings: Settings, ready: Callable[[str], None], watch: IndexWatch | None = None
) -> bool:
    """Serves until SIGTERM or SIGINT; `ready` hears the address when requests can be sent.

    Then what is being worked on is finished, for at most `shutdown_s` seconds, and new requests get 503; a
    second signal ends at once. A `watch` runs as long as it serves. False when a computation still goes on.
    """
    listener = listening(settings.host, settings.port)
    settings = replace(settings, port=listener.getsockname()[1])
    app = create_app(library, settings, watch)
    service: Service = app.state.service
    address = f"http://{in_url(settings.host)}:{settings.port}/"
    server = Server(app, service, lambda: ready(address))
    if watch is None:
        server.run([listener])
        return not service.is_stuck
    watch.start()
    try:
        server.run([listener])
    finally:
        watch.close(0.0 if server.force_exit else PATIENCE_S)
    return not service.is_stuck


class Server(ListeningServer):
    """A server that goes on answering while it finishes its work, and returns when it was told to stop."""

    def __init__(self, app: ASGIApp, service: Service, ready: Callable[[], None]) -> None:
        super().__init__(app, service.settings, _LAST_WORDS_S, ready)
        self._service = service
        self._end_at = float("inf")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Takes no new work from now on, and ends the watching; the second time, waits for nothing."""
        if self._service.is_draining:
            self.should_exit = self.force_exit = True
        self._service.is_draining = True
        if self._service.watch is not None:
            self._service.watch.stop()
        self._end_at = time.monotonic() + self._service.settings.shutdown_s

    async def on_tick(self, counter: int) -> bool:
        """Whether to end: when told so, and all work is done or its time over."""
        is_over = self._service.in_flight == 0 or time.monotonic() >= self._end_at
        return await super().on_tick(counter) or (self._service.is_draining and is_over)
