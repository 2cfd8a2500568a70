"""HTTP on one connection, with limits that uvicorn has no settings for.

The head of a request must come in time, also a byte at a time; a client that does not read is cut off; there
are so many connections and no more; what is no HTTP is told so in the form of every other error.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .faults import Fault
from .guards.headers import HEADERS
from .responses import json_bytes
from .settings import Settings

_PHRASES = {400: b"Bad Request", 408: b"Request Timeout", 503: b"Service Unavailable"}


def protocol_of(settings: Settings) -> type[H11Protocol]:
    """The protocol with the limits of these settings."""

    class Protocol(GuardedProtocol):
        header_s = settings.header_s
        write_s = settings.request_s
        most = settings.connections

    return Protocol


class GuardedProtocol(H11Protocol):
    """One connection. `header_s` is the time of a head, `write_s` that of a client that reads nothing."""

    header_s: float
    write_s: float
    most: int
    _head: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Takes a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(Fault(503, "Overloaded", "the server has too many connections: ask again"))
        else:
            self._mind_the_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self._forget_head()
        self._forget_stuck()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Reads on; a head that is not whole yet has its time from its first byte."""
        super().data_received(data)
        self._mind_the_head()

    def send_400_response(self, msg: str) -> None:
        """Tells that this is no HTTP, unless an answer is already on its way."""
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()
        else:
            self._refuse(Fault(400, "BadRequest", "this is no HTTP request that can be read"))

    def pause_writing(self) -> None:
        """Waits for a client that does not read, but not for ever."""
        super().pause_writing()
        self._forget_stuck()
        self._stuck = self.loop.call_later(self.write_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Goes on to write."""
        self._forget_stuck()
        super().resume_writing()

    def _mind_the_head(self) -> None:
        if self.transport.is_closing() or self.conn.their_state is not h11.IDLE:
            self._forget_head()
        elif self._head is None:
            self._head = self.loop.call_later(self.header_s, self._too_slow)

    def _forget_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _forget_stuck(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _too_slow(self) -> None:
        self._head = None
        if not self.transport.is_closing():
            self._refuse(Fault(408, "TimedOut", "the head of the request did not come in time"))

    def _refuse(self, fault: Fault) -> None:
        body = json_bytes(fault.record())
        told = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode("ascii")),
            (b"connection", b"close"),
            *([(b"retry-after", b"1")] if fault.status == 503 else []),
            *HEADERS,
        ]
        lines = [b"HTTP/1.1 %d %s" % (fault.status, _PHRASES[fault.status])]
        lines += [b"%s: %s" % pair for pair in told]
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()
