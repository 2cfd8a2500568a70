"""Access to a server: host names, origins, the token, the size of requests, and headers of every response.

This prevents DNS rebinding (Host must be a name of this server), requests of foreign pages (their origin must
be allowed), and scripts in documents (the content security policy allows only those of the page).
"""

from dataclasses import dataclass, field
from hmac import compare_digest

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...reader.generators.server import is_loopback

MAX_BODY_BYTES = 1_000_000
MIN_TOKEN = 16  # characters
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ANY_ADDRESS = ("0.0.0.0", "::")
DATA_PATHS = ("/api/", "/v1/", "/mcp")
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Access:
    """The address of a server and who may use it; ValueError for a public address without a token.

    host: the address to bind
    port: the port to bind; 0 takes a free one
    hosts: further host names of this server
    origins: web pages that may send requests besides the server's page, such as "https://notes.example"
    token: requests for data need "Authorization: Bearer TOKEN"; None for no check
    """

    host: str = "127.0.0.1"
    port: int = 8765
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the token and the origins."""
        if self.token is not None and len(self.token) < MIN_TOKEN:
            raise ValueError(f"the token has {len(self.token)} characters. Use at least {MIN_TOKEN}.")
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"others can reach {self.host}: a token is required. Use --token-file FILE, set "
                "SPANWISE_SERVE_TOKEN, or bind 127.0.0.1."
            )
        for name in self.hosts:
            if set("*/:") & set(name):
                raise ValueError(f"invalid host name {name!r}. Write it as notes.example, without port.")
        for origin in self.origins:
            scheme, separator, name = origin.partition("://")
            if scheme not in ("http", "https") or not separator or not name or set("/*") & set(name):
                raise ValueError(f"invalid origin {origin!r}. Write it as https://notes.example.")

    @property
    def host_names(self) -> list[str]:
        """The allowed values of the Host header, without port."""
        bound = () if self.host in ANY_ADDRESS else (in_url(self.host),)
        return [*LOOPBACK, *bound, *self.hosts]

    @property
    def url(self) -> str:
        """The address of the server.

        >>> Access("::1", 80).url
        'http://[::1]:80/'
        """
        return f"http://{in_url(self.host)}:{self.port}/"


def in_url(host: str) -> str:
    """A host as URLs write it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def protect(app: Starlette, access: Access) -> None:
    """Put the checks in front of an application; the last one added sees a request first."""
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BODY_BYTES)
    app.add_middleware(Guard, access=access)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=access.origins,
        allow_methods=["GET", "POST"],
        allow_headers=["authorization", "content-type", "mcp-protocol-version"],
    )
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=access.host_names, www_redirect=False)


class Guard:
    """Refuses foreign origins and missing tokens, and adds the security headers to every response."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._origins = frozenset(access.origins)
        self._token = None if access.token is None else access.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401 or 403."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_data = scope["path"].startswith(DATA_PATHS)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                sent.update(HEADERS)
                sent["cache-control"] = "no-store" if is_data else "no-cache"
                if "queue_ms" in scope.get("state", {}):
                    sent["server-timing"] = f"queue;dur={scope['state']['queue_ms']}"
            await send(message)

        headers = Headers(scope=scope)
        app = self._app
        others = frozenset() if scope["method"] == "PUT" else self._origins
        if not self._is_allowed_origin(headers, is_data, others):
            app = _refusal(403, "OriginRefused", "this origin is not allowed. See --allow-origin.")
        elif is_data and not self._has_token(headers):
            app = _refusal(401, "TokenRefused", "a token is required: Authorization: Bearer TOKEN")
        await app(scope, receive, send_with_headers)

    def _is_allowed_origin(self, headers: Headers, is_data: bool, others: frozenset[str]) -> bool:
        """True if the server's page, one of others, or no page sent this; Host is checked before."""
        origins = headers.getlist("origin")
        if not origins:
            return not is_data or headers.get("sec-fetch-site") not in ("cross-site", "same-site")
        own = {f"{scheme}://{headers.get('host')}" for scheme in ("http", "https")}
        return len(origins) == 1 and origins[0] in own | others

    def _has_token(self, headers: Headers) -> bool:
        if self._token is None:
            return True
        kind, _, token = headers.get("authorization", "").partition(" ")
        return compare_digest(token.strip().encode(), self._token) and kind.lower() == "bearer"


def _refusal(status: int, kind: str, message: str) -> ASGIApp:
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": {"type": kind, "message": message}}, status, headers)
