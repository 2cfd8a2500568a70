"""A page of another origin may not ask, unless it was allowed; then it also hears the answer."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..faults import Fault
from ..settings import Settings
from .names import origins
from .refusal import header, refuse

_FOREIGN_SITES = (b"cross-site", b"same-site")
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"authorization, content-type, mcp-protocol-version"),
    (b"access-control-max-age", b"600"),
    (b"content-length", b"0"),
)


class OriginGuard:
    """Refuses foreign origins, "null" among them, and what a browser says that a foreign page asked for."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._own, self._allowed = app, origins(settings), frozenset(settings.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = [value.decode("latin-1") for value in header(scope, b"origin")]
        if fault := self._fault(scope, given):
            await refuse(scope, send, fault)
        elif not given or given[0] not in self._allowed:
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS":
            headers = [*_cors(given[0]), *_PREFLIGHT]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._app(scope, receive, _heard(send, given[0]))

    def _fault(self, scope: Scope, given: list[str]) -> Fault | None:
        known = self._own | self._allowed
        if len(given) > 1 or any(origin not in known for origin in given):
            return Fault(403, "OriginRefused", "pages of this origin may not ask: see --allow-origin")
        is_data = not (scope["path"] == "/" or scope["path"].startswith("/page/"))
        if is_data and not given and any(site in _FOREIGN_SITES for site in header(scope, b"sec-fetch-site")):
            return Fault(403, "OriginRefused", "pages of other sites may not ask: see --allow-origin")
        return None


def _cors(origin: str) -> list[tuple[bytes, bytes]]:
    return [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]


def _heard(send: Send, origin: str) -> Send:
    async def with_origin(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_cors(origin)]
        await send(message)

    return with_origin
