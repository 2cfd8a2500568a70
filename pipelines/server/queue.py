"""The queue of questions: some are answered, some wait, and one whose client leaves is given up."""

import asyncio
import math
import threading
import time
from collections.abc import AsyncIterator

from fastapi import Request
from starlette.exceptions import HTTPException

from ...reader.generators.protocol import nobody_waits

MAX_IN_FLIGHT = 8  # questions in threads
MAX_QUEUED = 64  # questions, with those
MAX_RETRY_S = 60
WATCH_S = 0.5  # between two looks whether the client is still there


class Queue:
    """The questions in progress, and those that wait for them in the order in which they came."""

    def __init__(self) -> None:
        self._threads = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._n_questions = 0
        self._seconds = 1.0  # between the ends of two questions, about

    async def slot(self, request: Request) -> AsyncIterator[None]:
        """A place for a question, whose wait gets into the head of its response; 503 when all are taken."""
        wait_s = min(MAX_RETRY_S, math.ceil(self._n_questions * self._seconds))
        if self._n_questions >= MAX_QUEUED:
            message = f"{self._n_questions} questions wait. Try again in {wait_s} s."
            raise HTTPException(503, message, {"retry-after": str(wait_s)})
        self._n_questions += 1
        began = time.monotonic()
        watch = None
        try:
            async with self._threads:
                started = time.monotonic()
                request.state.queue_ms = round((started - began) * 1000)
                if request.state.queue_ms and await request.is_disconnected():
                    raise HTTPException(503, "nobody waits for the answer")
                has_left = threading.Event()
                nobody_waits.set(has_left.is_set)
                watch = asyncio.create_task(_watch(request, has_left))
                yield
                share = min(self._n_questions, MAX_IN_FLIGHT)
                self._seconds += ((time.monotonic() - started) / share - self._seconds) / MAX_IN_FLIGHT
        finally:
            self._n_questions -= 1
            if watch:
                watch.cancel()


async def _watch(request: Request, has_left: threading.Event) -> None:
    """Sets the event when the client leaves."""
    while not await request.is_disconnected():
        await asyncio.sleep(WATCH_S)
    has_left.set()
