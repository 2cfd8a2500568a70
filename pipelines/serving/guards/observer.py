"""The outermost guard: gives each request its time, counts how it ended, and answers for what broke."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..faults import UNEXPECTED
from ..service import Service
from .refusal import REFUSAL, refuse

log = logging.getLogger("spanwise.serving")
DEADLINE = "spanwise.deadline"  # of the scope: when the request must be done, by the clock of the loop


class Observer:
    """Counts requests by the route that took them; an error that nobody caught is logged, not told."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[DEADLINE] = asyncio.get_running_loop().time() + self._service.settings.request_s
        began, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            log.exception("%s failed", scope["path"])
            if not status:
                await refuse(scope, watched, UNEXPECTED)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._service.metrics.observe_request(route, status, time.perf_counter() - began)
            if kind := scope.get(REFUSAL):
                self._service.metrics.observe_refusal(kind)
