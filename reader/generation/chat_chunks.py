"""One event of a streamed chat completion: its piece of text, and what ended the text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..decoding.stopping import Ended
from .faults import Fault
from .server_events import ServerEvent

_FAILED = {
    "content_filter": "withheld the text by a filter of its own",
    "tool_calls": "wants to call a tool, where text was asked for",
    "function_call": "wants to call a tool, where text was asked for",
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of text, perhaps empty; what ended the text, if anything; its tokens, if they are told."""

    text: str
    ended: Ended | None
    n_tokens: int | None


def chunk_of(event: ServerEvent) -> Chunk:
    """What the event holds. Raises a Fault if it is malformed, an error, a tool call or no text."""
    value = json_object(event.data)
    if value is None:
        raise Fault("sent an event that is no JSON object", event.data)
    if event.name == "error" or value.get("error") or value.get("object") == "error":
        raise Fault("broke off with an error", error_told(value))
    choices = value.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise Fault("sent an event without choices", event.data)
    choice = choices[0] if choices else {}
    return Chunk(_text(choice), _ended(choice.get("finish_reason")), _n_tokens(value.get("usage")))


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object that the text is; None if it is something else, or nested too deep."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def error_told(value: dict[str, Any]) -> str:
    """The server's words in an error object, in whichever form; empty if there are none."""
    error = value.get("error", value)
    if isinstance(error, dict):
        error = next((error[name] for name in ("message", "detail", "type", "code") if error.get(name)), "")
    return error if isinstance(error, str) else json.dumps(error)


def _text(choice: dict[str, Any]) -> str:
    delta = choice.get("delta") or {}
    if not isinstance(delta, dict):
        raise Fault("sent a delta that is no object")
    if delta.get("tool_calls") or delta.get("function_call"):
        raise Fault("wants to call a tool, where text was asked for")
    if refusal := delta.get("refusal"):
        raise Fault("refuses to answer", refusal if isinstance(refusal, str) else "")
    content = delta.get("content")
    if content is not None and not isinstance(content, str):
        raise Fault("sent content that is no text")
    return content or ""


def _ended(reason: object) -> Ended | None:
    if not reason:
        return None
    if reason in ("stop", "length"):
        return Ended.END if reason == "stop" else Ended.MOST_TOKENS
    if isinstance(reason, str) and reason in _FAILED:
        raise Fault(f"{_FAILED[reason]} (finish_reason {reason})")
    raise Fault("ended the text for a reason of its own", str(reason))


def _n_tokens(usage: object) -> int | None:
    n = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return n if isinstance(n, int) and not isinstance(n, bool) and n >= 0 else None
