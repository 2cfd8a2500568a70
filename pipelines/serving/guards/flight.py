"""How many requests are worked on at a time, and for how long; one whose client left is given up.

What needs no work is always answered: the health check, the figures, the page.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..faults import Fault, timed_out
from ..service import Service
from .observer import DEADLINE
from .refusal import refuse

GRACE_S = 2.0  # for a response that has begun, to say itself that its time is over


class FlightGuard:
    """Refuses with 503 and Retry-After what is too much, what comes while the server ends, and what takes
    too long. A response that has begun is cut off, so that nobody takes it for whole.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        if scope["type"] != "http" or not scope["path"].startswith(("/api/", "/v1/")):
            await self._app(scope, receive, send)
            return
        service = self._service
        if service.is_draining:
            await refuse(scope, send, Fault(503, "ShuttingDown", "the server is ending: ask another one"))
        elif service.in_flight >= service.settings.in_flight:
            told = f"{service.in_flight} requests are being worked on: ask again"
            await refuse(scope, send, Fault(503, "Overloaded", told), close=False)
        else:
            with service.working():
                await self._timed(scope, receive, send)

    async def _timed(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, gone, has_begun = await receive(), asyncio.Event(), False

        async def next_message() -> Message:
            nonlocal body
            if body["type"] == "http.request":
                given, body = body, {"type": "http.disconnect"}
                return given
            await gone.wait()
            return body

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        work = asyncio.ensure_future(self._app(scope, next_message, noted))
        leaving = asyncio.ensure_future(_left(receive, gone))
        try:
            in_time = await _first(work, leaving, scope[DEADLINE])
            if not in_time and has_begun:
                await _first(work, leaving, scope[DEADLINE] + GRACE_S)
        finally:
            leaving.cancel()
            if not work.done():
                work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        if not (in_time or has_begun or gone.is_set()):
            await refuse(scope, send, timed_out(self._service.settings.request_s))


async def _first(work: asyncio.Future[None], leaving: asyncio.Future[None], deadline: float) -> bool:
    """Whether the work was done or the client left before the deadline."""
    left_s = max(0.0, deadline - asyncio.get_running_loop().time())
    done, _ = await asyncio.wait({work, leaving}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
    return bool(done)


async def _left(receive: Receive, gone: asyncio.Event) -> None:
    """Ends when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.set()
