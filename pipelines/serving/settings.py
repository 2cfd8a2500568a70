"""What a server is started with; nothing of it can be changed by a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING

from ..reranking import DEPTH
from ..models import RERANKER

if TYPE_CHECKING:
    from ..summarizing.writing import Writing

HOST, PORT = "127.0.0.1", 8765
LEAST_TOKEN = 16  # characters


@dataclass(frozen=True, slots=True)
class Settings:
    """The address, who may ask, how much one request may cost, and the models that answer.

    `allowed_hosts` are further names that requests may call the server by, with or without a port;
    `allowed_origins` are the origins of pages that may ask it beside its own, as "https://notes.example".
    Limits are in bytes, characters and seconds. ValueError for a setting that no server can have, and for
    an address that others can reach without a token.
    """

    host: str = HOST
    port: int = PORT
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    token: str | None = field(default=None, repr=False)
    body_bytes: int = 1_000_000
    question_characters: int = 4096
    most_k: int = 100
    request_s: float = 30.0
    header_s: float = 10.0
    in_flight: int = 8
    connections: int = 512
    batch: int = 32
    shutdown_s: float = 30.0
    reader: str = "builtin"
    rerank: str = RERANKER
    rerank_depth: int = DEPTH
    writing: Writing | None = None

    def __post_init__(self) -> None:
        """Refuse limits that let nothing through, a weak token, and an open door."""
        for name in ("body_bytes", "question_characters", "most_k", "in_flight", "connections", "batch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, expected at least 1")
        for name in ("request_s", "header_s", "shutdown_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}, expected more than 0 seconds")
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise ValueError(f"the token has {len(self.token)} characters, expected {LEAST_TOKEN} or more")
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                f"{self.host} can be reached by others: give a token with --token-file FILE or "
                "SPANWISE_SERVE_TOKEN, or bind 127.0.0.1"
            )
        for origin in self.allowed_origins:
            scheme, separator, rest = origin.partition("://")
            if scheme not in ("http", "https") or not separator or not rest or "/" in rest or "*" in rest:
                raise ValueError(f"{origin!r} is no origin, such as https://notes.example")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; a name other than localhost may be anybody's.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def in_url(host: str) -> str:
    """A host as it stands in an address.

    >>> in_url("::1"), in_url("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{host}]" if ":" in host else host
