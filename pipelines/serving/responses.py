"""Records as JSON responses, and errors in the same form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse

from .faults import RETRY_AFTER_S, Fault


class Record(JSONResponse):
    """A JSON response in ASCII, so that a lone surrogate of a document does not break it."""

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return json_bytes(content)


def json_bytes(content: Any) -> bytes:
    """One JSON value in one line of ASCII; ArithmeticError for a number that JSON does not know.

    >>> json_bytes({"number": 1})
    b'{"number":1}'
    """
    try:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
    except ValueError as error:  # which would be taken for a mistake of the client's
        raise ArithmeticError("a record holds a number that is not finite") from error


def fault_response(fault: Fault, headers: Mapping[str, str] | None = None) -> Record:
    """The answer to a request that failed; one that may be tried again says when."""
    again = {"retry-after": str(RETRY_AFTER_S)} if fault.status == 503 else {}
    return Record(fault.record(), fault.status, {**again, **(headers or {})})
