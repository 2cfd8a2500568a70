"""The protocol over stdin and stdout, which carry nothing else."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

import anyio
from mcp.server.stdio import stdio_server

from ..library import Library
from .server import make_server
from .settings import Settings


def serve_stdio(library: Library, settings: Settings) -> None:
    """Answers on stdout what comes on stdin, until that ends.

    What anything else prints goes to stderr: the transport turns the file descriptor, and Python's own stream
    is turned as well, since what it still holds at the end would come out where stdout was.
    """
    anyio.run(_serve, library, settings)


async def _serve(library: Library, settings: Settings) -> None:
    server = make_server(library, settings)
    async with stdio_server() as (incoming, outgoing):
        with redirect_stdout(sys.stderr):
            await server.run(incoming, outgoing, server.create_initialization_options())
