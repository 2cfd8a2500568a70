"""Calls take turns in one thread, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from ..serving.computing import ComputingThread

T = TypeVar("T")


class Calls:
    """Computes one call after another, in the order in which they came; used from one event loop.

    `within_s` is how long a caller waits, for its turn and for what it asked for; None is for ever. A thread
    cannot be stopped, so what has begun goes on and holds up those behind it; what has not begun when its
    caller is gone is not computed.
    """

    def __init__(self, within_s: float | None) -> None:
        self._within_s = within_s
        self._thread = ComputingThread()

    async def result(self, compute: Callable[[], T]) -> T:
        """What `compute` gives, which must catch what it raises; TimeoutError when that takes too long."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            if result.done():  # cancelled, as its caller is gone
                return
            found = compute()
            with suppress(RuntimeError):  # the loop was closed meanwhile: then nobody waits for anything
                loop.call_soon_threadsafe(_give, result, found)

        self._thread.do(job)
        async with asyncio.timeout(self._within_s):
            return await result


def _give(result: asyncio.Future[T], found: T) -> None:
    if not result.done():
        result.set_result(found)
