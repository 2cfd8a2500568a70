"""Refuses and records every way out of this machine, by an audit hook of the interpreter.

A hook sees what `socket` does whoever calls it, cannot be patched away, and holds in child processes
too (`sitecustomize` beside this file installs it there). Loopback and AF_UNIX stay open.

Source: PEP 578; the events are those of the table of audit events in the Python documentation.
Left out: libraries that open sockets in C or Rust without asking Python; `HF_HUB_OFFLINE` stops those we use.
"""

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

LOG = "SPANWISE_TEST_NETWORK_LOG"
"""The environment variable that names the file to which every refused attempt is appended."""

# event -> the position of the host, or of the address that holds it, among the event's arguments
_EVENTS = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
    "socket.getnameinfo": 0,
}


class NetworkRefused(Exception):
    """A connection or a look-up that would have left this machine; no OSError, so nobody retries it."""


def install() -> None:
    """Refuse and record from now on; there is no way back."""
    sys.addaudithook(_refuse)


def attempts() -> list[str]:
    """The attempts since the last call, `event target`, of this process and of its children."""
    log = Path(os.environ[LOG])
    lines = log.read_text(encoding="utf-8").splitlines()
    if lines:
        log.write_text("", encoding="utf-8")
    return lines


def stays_here(target: Any) -> bool:
    """True for AF_UNIX paths, loopback addresses, and the names that stand for them.

    >>> stays_here(("127.0.0.1", 80)), stays_here(("::1", 80, 0, 0)), stays_here("/tmp/socket")
    (True, True, True)
    >>> stays_here(("192.0.2.1", 80)), stays_here(("localhost.example.org", 80))
    (False, False)
    """
    if not isinstance(target, tuple):
        return True
    host = target[0].decode() if isinstance(target[0], bytes) else target[0]
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    position = _EVENTS.get(event)
    if position is None:
        return
    target = arguments[position]
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        target = (target,)
    if stays_here(target):
        return
    if LOG in os.environ:
        with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
            log.write(f"{event} {target[0]}\n")
    raise NetworkRefused(f"{event} to {target[0]!r}: tests may reach only this machine")
