"""What every response says to a browser: run nothing, guess nothing, tell nobody."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..routes.page import POLICY

HEADERS = (
    (b"content-security-policy", POLICY.encode("ascii")),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class HeaderGuard:
    """Adds the headers; what says nothing about caching is not to be kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                kept = any(name.lower() == b"cache-control" for name, _ in given)
                message["headers"] = [*given, *HEADERS, *(() if kept else ((b"cache-control", b"no-store"),))]
            await send(message)

        await self._app(scope, receive, with_headers)
