"""What an answer other than 200 means, and what to do about it."""

from __future__ import annotations

import httpx

from .chat_chunks import error_told, json_object
from .endpoint_settings import EndpointSettings
from .exchange import body_of
from .faults import Fault, quoted

MOST_TOLD = 2**16
"""How many bytes of an error page are read."""

_AGAIN = {
    408: "gave up waiting for the request (408)",
    429: "has too many requests, or this key has no quota left (429)",
    500: "failed (500)",
    502: "cannot reach what stands behind it (502)",
    503: "is overloaded or still loading its model (503)",
    504: "waited too long for what stands behind it (504)",
}


def refusal(response: httpx.Response, settings: EndpointSettings, has_key: bool) -> Fault | None:
    """Why this is no stream of events, None if it is one."""
    status = response.status_code
    if status == 200:
        return _no_stream(response)
    if 300 <= status < 400:
        return Fault(
            f"redirects ({status}), which is not followed; name the address itself", _target(response)
        )
    if status in (401, 403):
        return _key_refused(status, settings.key_variable, has_key)
    told = told_by(response)
    if status in _AGAIN:
        return Fault(_AGAIN[status], told, again=True, retry_after=response.headers.get("retry-after"))
    return Fault(f"answers with status {status}", told)


def told_by(response: httpx.Response) -> str:
    """The server's words about an error, empty if it has none or too many."""
    try:
        value = json_object(b"".join(body_of(response, MOST_TOLD)))
    except Fault:
        return ""
    return error_told(value) if value else ""


def no_such_model(model: str, models: list[str], told: str) -> Fault:
    """What a 404 means to somebody who named a model; `models` are those that the server has, if it tells."""
    if models and model not in models:
        return Fault(f"has no model {model!r}; it has {listed(models)}")
    return Fault(f"knows neither this address (it mostly ends in /v1) nor the model {model!r} (404)", told)


def listed(models: list[str], most: int = 20) -> str:
    """The names of models as a text, the first 20 of them."""
    names = ", ".join(quoted(model, most=80) for model in models[:most])
    return f"{names} and {len(models) - most} more" if len(models) > most else names


def _no_stream(response: httpx.Response) -> Fault | None:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "text/event-stream":
        return None
    return Fault("sent something else where a stream was asked for", told_by(response) or media_type)


def _target(response: httpx.Response) -> str:
    """The host that a redirect leads to; what stands behind it is of no use here."""
    try:
        return httpx.URL(response.headers.get("location", "")).host
    except httpx.InvalidURL:
        return ""


def _key_refused(status: int, variable: str | None, has_key: bool) -> Fault:
    """Never in the server's words, which often hold the key or its end."""
    if has_key:
        return Fault(f"refuses the key from the environment variable {variable} ({status})")
    if variable is None:
        return Fault(f"wants a key ({status}), and no key_variable is set")
    return Fault(f"wants a key ({status}): put it into the environment variable {variable}")
