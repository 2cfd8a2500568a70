"""Server-sent events, and the results of a generator as they are computed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator
from typing import Any, Generic, TypeVar

from fastapi.responses import StreamingResponse

from .responses import json_bytes
from .service import Service

T = TypeVar("T")
R = TypeVar("R")

EVENT_STREAM = "text/event-stream; charset=utf-8"


def event(name: str, record: Any) -> bytes:
    """One event with a JSON value.

    >>> event("sentence", {"text": "It burned."})
    b'event: sentence\\ndata: {"text":"It burned."}\\n\\n'
    """
    return b"event: %s\n%s" % (name.encode("ascii"), data(record))


def data(record: Any) -> bytes:
    """A JSON value as the data of an event without a name."""
    return b"data: %s\n\n" % json_bytes(record)


def stream(pieces: AsyncIterator[bytes]) -> StreamingResponse:
    """Events as a response that nothing in between keeps back."""
    return StreamingResponse(pieces, media_type=EVENT_STREAM, headers={"x-accel-buffering": "no"})


class Stepped(AsyncIterator[T], Generic[T, R]):
    """What a generator yields, each piece computed in its turn among the questions of others.

    `returned` is what it returned; there is none before its end.
    """

    returned: R

    def __init__(self, service: Service, generator: Generator[T, None, R]) -> None:
        self._service, self._generator = service, generator

    async def __anext__(self) -> T:
        """The next piece."""
        is_last, value = await self._service.batcher.alone(self._step)
        if is_last:
            self.returned = value
            raise StopAsyncIteration
        piece: T = value
        return piece

    def _step(self) -> tuple[bool, Any]:
        try:
            return False, next(self._generator)
        except StopIteration as end:
            return True, end.value
