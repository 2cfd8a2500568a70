"""From a library to a process that serves it until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from ..library import Library
from .app import create_app
from .settings import Settings, in_url


def serve_library(library: Library, settings: Settings, ready: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT; `ready` hears the address once requests are taken."""
    listener = listening(settings.host, settings.port)
    settings = replace(settings, port=listener.getsockname()[1])
    config = uvicorn.Config(
        create_app(library, settings),
        log_level="warning",
        access_log=False,
        http="h11",
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=round(settings.shutdown_s),
    )
    ready(f"http://{in_url(settings.host)}:{settings.port}/")
    uvicorn.Server(config).run([listener])


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; OSError says what is in the way."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(f"cannot listen on {in_url(host)}:{port}: {error.strerror}") from None
    listener.listen(512)
    listener.set_inheritable(False)
    return listener
