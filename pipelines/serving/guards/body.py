"""A body is JSON, of bounded length, depth and time; it is read whole before anything is done for it."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..faults import Refused
from ..settings import Settings
from .depth import MOST_DEPTH, is_deeper
from .observer import DEADLINE
from .refusal import header, refuse

_METHODS = ("GET", "HEAD", "POST")
MOST_HEAD_BYTES = 16_384
_DRAINED_BYTES = 16_000_000  # of a body that is too long, so that its sender gets to read why
_DRAINED_S = 2.0


class BodyGuard:
    """Refuses other methods, types and lengths, and hands the body on in one piece."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._most = app, settings.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it; nobody is told when the client went away."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check_head(scope)
            body = await self._whole(scope, receive)
        except Refused as refusal:
            if refusal.fault.status == 413 and not header(scope, b"expect"):
                await _drain(receive)
            await refuse(scope, send, refusal.fault)
            return
        if body is not None:
            await self._app(scope, _replayed(body, receive), send)

    def _check_head(self, scope: Scope) -> None:
        lengths, is_chunked = header(scope, b"content-length"), header(scope, b"transfer-encoding")
        if _head_bytes(scope) > MOST_HEAD_BYTES:
            raise Refused(431, "HeadTooLong", f"the head of the request may have {MOST_HEAD_BYTES:,} bytes")
        if scope["method"] not in _METHODS:
            raise Refused(405, "MethodNotAllowed", "only GET and POST are answered")
        if len(lengths) > 1 or (lengths and is_chunked):
            raise Refused(400, "BadRequest", "the length of the body is given more than once")
        if scope["method"] != "POST":
            if is_chunked or (lengths and lengths[0] != b"0"):
                raise Refused(400, "BadRequest", f"a {scope['method']} has no body")
            return
        if not _is_json(header(scope, b"content-type")) or header(scope, b"content-encoding"):
            raise Refused(415, "TypeRefused", "the body must be application/json in UTF-8, not encoded")
        if lengths and int(lengths[0]) > self._most:
            raise self._too_long()

    async def _whole(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None when the client went away."""
        body = bytearray()
        try:
            async with asyncio.timeout_at(scope[DEADLINE]):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > self._most:
                        raise self._too_long()
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise Refused(408, "TimedOut", "the body did not come in time") from None
        if is_deeper(bytes(body), MOST_DEPTH):
            raise Refused(400, "BadRequest", f"the body is nested more than {MOST_DEPTH} deep")
        return bytes(body)

    def _too_long(self) -> Refused:
        return Refused(413, "BodyTooLong", f"the body may have {self._most:,} bytes")


def _head_bytes(scope: Scope) -> int:
    target = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    return target + sum(len(name) + len(value) for name, value in scope["headers"])


def _is_json(types: list[bytes]) -> bool:
    if len(types) != 1:
        return False
    name, *parameters = [part.strip().lower() for part in types[0].split(b";")]
    return name == b"application/json" and all(
        part in (b"", b"charset=utf-8", b'charset="utf-8"') for part in parameters
    )


async def _drain(receive: Receive) -> None:
    """Reads on for a while: a connection that is closed on a sender takes the answer with it."""
    n_bytes = 0
    try:
        async with asyncio.timeout(_DRAINED_S):
            while n_bytes < _DRAINED_BYTES:
                message = await receive()
                n_bytes += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return  # it is still sending: then the answer may be lost on it


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
