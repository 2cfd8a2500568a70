"""Where there is a token, whoever asks must bring it; the page itself and the health check hold nothing."""

from __future__ import annotations

from hmac import compare_digest

from starlette.types import ASGIApp, Receive, Scope, Send

from ..faults import Fault
from ..settings import Settings
from .refusal import header, refuse

_CHALLENGE = ((b"www-authenticate", b"Bearer"),)


class TokenGuard:
    """Compares in constant time; without a token everything passes."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._token = None if settings.token is None else settings.token.encode("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        if scope["type"] == "http" and not (_is_open(scope["path"]) or self._is_known(scope)):
            fault = Fault(401, "TokenRefused", "bring the server's token: Authorization: Bearer TOKEN")
            await refuse(scope, send, fault, _CHALLENGE)
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        if self._token is None:
            return True
        given = header(scope, b"authorization")
        kind, _, token = (given[0] if len(given) == 1 else b"").partition(b" ")
        return compare_digest(token.strip(), self._token) and kind.lower() == b"bearer"


def _is_open(path: str) -> bool:
    return path in ("/", "/health") or path.startswith("/page/")
