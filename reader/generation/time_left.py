"""The time that one text may take, and what makes sure that no silence outlasts it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..decoding.stopping import Limits


class TimeLeft:
    """The time until the text's own limit, and until the exchange as a whole counts as failed."""

    def __init__(self, limits: Limits, total_s: float) -> None:
        self._watch = limits.watch()
        self.total_s = total_s

    @property
    def is_late(self) -> bool:
        """True once the seconds of the limits are over: what is there then is the text."""
        return self._watch.is_late

    @property
    def is_spent(self) -> bool:
        """True once the exchange took longer than it may."""
        return self._gone_s() >= self.total_s

    def seconds(self) -> float:
        """The seconds until whichever comes first, at least a millisecond."""
        most = self._watch.limits.seconds
        return max(0.001, (self.total_s if most is None else min(most, self.total_s)) - self._gone_s())

    def _gone_s(self) -> float:
        return self._watch.limits.clock() - self._watch.began


class Watchdog:
    """Ends a connection at its time, from a thread: a read waits for the next byte, not for the whole.

    `trace` is called by the client with the connections that it makes (httpx's request extension "trace").
    """

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._time_is_up = False

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Remembers the newest socket; with TLS a second one takes the place of the first."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._time_is_up:
                self._shut()

    @contextmanager
    def after(self, seconds: float) -> Iterator[None]:
        """Ends the connection when the block takes longer."""
        timer = threading.Timer(seconds, self._bite)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _bite(self) -> None:
        self._time_is_up = True
        self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # closed in the meantime
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # below TLS, which has a reader inside
