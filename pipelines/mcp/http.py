"""The protocol over HTTP, behind the guards of `spanwise serve`.

Each message is one POST to /mcp that is answered by one JSON body; no session is kept between them. The names
and origins that are taken, the token, the length of a body, and the time that its head and body may take are
those of `serving.settings`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from ..library import Library
from ..serving.faults import Fault
from ..serving.guards.body import BodyGuard
from ..serving.guards.headers import HeaderGuard
from ..serving.guards.host import HostGuard
from ..serving.guards.names import host_names, origins
from ..serving.guards.observer import DEADLINE
from ..serving.guards.origin import OriginGuard
from ..serving.guards.refusal import refuse
from ..serving.guards.token import TokenGuard
from ..serving.listening import ListeningServer, listening
from ..serving.settings import Settings as Address
from ..serving.settings import in_url
from .server import make_server
from .settings import Settings

PATH = "/mcp"
_LAST_WORDS_S = 10  # for a call that computes when the server is told to stop


def serve_http(library: Library, settings: Settings, address: Address, ready: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT; `ready` hears the address when messages can be sent."""
    listener = listening(address.host, address.port)
    address = replace(address, port=listener.getsockname()[1])
    app, url = http_app(library, settings, address), f"http://{in_url(address.host)}:{address.port}{PATH}"
    ListeningServer(app, address, _LAST_WORDS_S, lambda: ready(url)).run([listener])


def http_app(library: Library, settings: Settings, address: Address) -> ASGIApp:
    """The application: the SDK's own, and before it the guards, the outermost last."""
    known = origins(address) | frozenset(address.allowed_origins)
    app: ASGIApp = make_server(library, settings).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=address.body_bytes,
        transport_security=TransportSecuritySettings(
            allowed_hosts=sorted(host_names(address)), allowed_origins=sorted(known)
        ),
    )
    app = FlightGuard(app, address)
    app = BodyGuard(app, address)
    app = TokenGuard(app, address)
    app = OriginGuard(app, address)
    app = HostGuard(app, address)
    return HeaderGuard(TimeGuard(app, address))


class TimeGuard:
    """Gives each request the time by which its body must have come."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app, self._request_s = app, address.request_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] == "http":
            scope[DEADLINE] = asyncio.get_running_loop().time() + self._request_s
        await self._app(scope, receive, send)


class FlightGuard:
    """Refuses with 503 and Retry-After what is more than may wait: one call computes, the others wait."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app, self._most, self._in_flight = app, address.in_flight, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._in_flight >= self._most:
            told = f"{self._in_flight} messages are being worked on: send it again"
            await refuse(scope, send, Fault(503, "Overloaded", told), close=False)
        else:
            self._in_flight += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._in_flight -= 1
