"""How a guard says no: the error as JSON, and the connection closed where the request was not read."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import Scope, Send

from ..faults import RETRY_AFTER_S, Fault
from ..responses import json_bytes

Headers = Sequence[tuple[bytes, bytes]]
REFUSAL = "spanwise.refusal"  # of the scope: the type of the error that was told, for the figures
CLOSE = (b"connection", b"close")


async def refuse(scope: Scope, send: Send, fault: Fault, headers: Headers = (), close: bool = True) -> None:
    """Sends the error; with `close` nothing more is read from this client."""
    scope[REFUSAL] = fault.type
    body = json_bytes(fault.record())
    told = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode("ascii"))]
    told += [CLOSE] if close else []
    told += [(b"retry-after", str(RETRY_AFTER_S).encode("ascii"))] if fault.status == 503 else []
    await send({"type": "http.response.start", "status": fault.status, "headers": [*told, *headers]})
    await send({"type": "http.response.body", "body": body})


def header(scope: Scope, name: bytes) -> list[bytes]:
    """All values that a request gives for a header, named in small letters."""
    return [value for key, value in scope["headers"] if key.lower() == name]
