"""Where an endpoint is, what it is given, and how long it is waited for."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass

import httpx

EXAMPLE = "http://127.0.0.1:11434/v1#llama3.2"
_HOST = re.compile(rb"[A-Za-z0-9._:-]+")  # letters of other scripts come as ASCII


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """How an endpoint is asked.

    key_variable     the environment variable that holds the key; None: no key is sent, whatever is set
    key_over_http    True allows to send the key unencrypted to another machine
    connect_s        how long a connection may take
    read_s           how long the server may be silent, before the first piece and between two
    total_s          how long a text may take with all tries; longer is a failure, unlike `Limits.seconds`
    retries          how often it is tried again before the first piece
    room             how many tokens prompt and text may have together; the server does not tell
    """

    key_variable: str | None = "SPANWISE_API_KEY"
    key_over_http: bool = False
    connect_s: float = 5.0
    read_s: float = 120.0
    total_s: float = 600.0
    retries: int = 3
    room: int = 8192

    def __post_init__(self) -> None:
        """Raises ValueError for a time or a number that cannot be."""
        for name in ("connect_s", "read_s", "total_s", "room"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}, and has to be more than 0")
        if self.retries < 0:
            raise ValueError(f"retries is {self.retries}, and cannot be less than 0")


def split_name(name: str) -> tuple[httpx.URL, str]:
    """The address of an endpoint without a slash at its end, and the model, empty if none is named.

    Raises ValueError for what is no http or https address, and for one that holds a secret; never quotes one.

    >>> split_name("HTTP://LocalHost:8000/v1/#org/model")
    (URL('http://localhost:8000/v1'), 'org/model')
    """
    address, _, model = name.partition("#")
    if "@" in address or "?" in address:
        raise ValueError(
            "the address of an endpoint holds neither user, password nor query; see key_variable"
        )
    try:
        url = httpx.URL(address.rstrip("/"))
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not _HOST.fullmatch(url.raw_host):
        raise ValueError(f"{name!r} is no address of an endpoint, as {EXAMPLE} is one")
    return url, model


def is_loopback(url: httpx.URL) -> bool:
    """True if the address is on this machine: localhost, 127.0.0.0/8 or ::1, and no other spelling of them.

    >>> is_loopback(httpx.URL("http://[::1]:80")), is_loopback(httpx.URL("http://localhost.example.org"))
    (True, False)
    """
    if url.host == "localhost":
        return True
    try:
        return ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return False


def key_for(url: httpx.URL, settings: EndpointSettings) -> str | None:
    """The key that goes to this address, None if none is set; read anew each time and kept nowhere.

    Raises ValueError if it would travel unencrypted, or cannot stand in a header; never quotes it.
    """
    variable = settings.key_variable
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key:
        return None
    if not (key.isascii() and key.isprintable()):
        raise ValueError(f"the key in {variable} has characters that no header can hold")
    if url.scheme == "http" and not is_loopback(url) and not settings.key_over_http:
        raise ValueError(
            f"the key in {variable} would go unencrypted to {url.host}: use https, unset {variable}, "
            "or allow it with key_over_http"
        )
    return key
