"""The routes that are asked most, answered without what FastAPI does for a request.

FastAPI describes them and says what is wrong with a body; a good one goes from here to the route's own
function. What it does beside that, matching routes and solving dependencies, holds Python's lock, which
the thread that computes waits for.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .service import Service

Endpoint = Callable[[Any, Service], Awaitable[Response]]
Told = Callable[[Exception, Service, Scope], Response]
"""The response to what a route raised."""


class Direct:
    """Answers POST to the routes whose function is in `bodies`, with the model of its body; passes on others.

    What a function raises of `kinds` is answered by `told`. The body must come in one piece.
    """

    def __init__(
        self,
        app: ASGIApp,
        routes: Iterable[BaseRoute],
        bodies: dict[Endpoint, type[BaseModel]],
        service: Service,
        kinds: Sequence[type[Exception]],
        told: Told,
    ) -> None:
        self._app, self._service, self._kinds, self._told = app, service, tuple(kinds), told
        self._routes = {
            route.path: (route, route.endpoint, bodies[route.endpoint])
            for route in routes
            if isinstance(route, APIRoute) and route.endpoint in bodies
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers the request, or passes it on with its body."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] not in self._routes:
            await self._app(scope, receive, send)
            return
        route, endpoint, model = self._routes[scope["path"]]
        message = await receive()
        asked = _read(message, model)
        if asked is None:
            await self._app(scope, _again(message, receive), send)
            return
        scope["route"] = route  # by which requests are counted
        response = await self._response(endpoint, asked, scope)
        await response(scope, receive, send)

    async def _response(self, endpoint: Endpoint, asked: BaseModel, scope: Scope) -> Response:
        try:
            return await endpoint(asked, self._service)
        except self._kinds as error:
            return self._told(error, self._service, scope)


def _read(message: Message, model: type[BaseModel]) -> BaseModel | None:
    """The body; None for one that is not as the model has it, which FastAPI will say."""
    if message["type"] != "http.request" or message.get("more_body", False):
        return None
    try:
        return model.model_validate(json.loads(message.get("body", b"")))
    except (ValidationError, ValueError):
        return None


def _again(message: Message, receive: Receive) -> Receive:
    """That message once more, then what comes after it."""
    messages = [message]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
