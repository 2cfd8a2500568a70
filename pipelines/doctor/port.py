"""Whether `spanwise serve` would find its port free."""

from __future__ import annotations

import errno
import socket

from ..serving.settings import HOST, PORT
from .finding import Finding, note, ok


def check_port(port: int = PORT) -> Finding:
    """The port that serving takes when none is named; one that is in use may well be our own server."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((HOST, port))
        except OSError as error:
            what = "in use" if error.errno == errno.EADDRINUSE else f"not to be had: {error.strerror}"
            return note("port", f"{HOST}:{port} is {what}", "to serve on another: spanwise serve --port N")
    return ok("port", f"{HOST}:{port} is free for spanwise serve")
