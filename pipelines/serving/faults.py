"""Errors as answers: a status, a type and a message, with no path and no trace in it."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spanwise import errors

RETRY_AFTER_S = 1
_NO_PATH = "'\",;:()"


@dataclass(frozen=True, slots=True)
class Fault:
    """What a client is told."""

    status: int
    type: str
    message: str

    def record(self) -> dict[str, dict[str, str]]:
        """The body of the response."""
        return {"error": {"type": self.type, "message": self.message}}


class Refused(Exception):
    """A request that is not taken, and what its client is told."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(status, kind, message)


# What the client caused is told in the error's own words; what the server suffers from in these.
_OF_THE_CLIENT: dict[type[Exception], int] = {
    errors.FilterUnknown: 400,
    errors.DocumentNotFound: 404,
    errors.DocumentChanged: 409,
    errors.DocumentRejected: 422,
    ValueError: 400,
}
_OF_THE_SERVER: dict[type[Exception], tuple[int, str]] = {
    errors.IndexEmpty: (503, "the index does not hold what this search needs: see /api/status"),
    errors.IndexNotFound: (503, "the index is not there at the moment"),
    errors.IndexLocked: (503, "another process is writing to the index: ask again"),
    errors.IndexReadOnly: (500, "the server may not read the index"),
    errors.IndexCorrupt: (500, "the index is damaged: run `spanwise verify` where it lies"),
    errors.FormatTooNew: (500, "the index was written by a newer version: update the server"),
    errors.GenerationFailed: (502, "the generator failed before its text was whole"),
    errors.OutOfMemory: (503, "the memory of the device is not enough for this question"),
    errors.StorageFull: (503, "the disk of the server is full"),
    errors.SpanwiseError: (500, "a model or a file of the server is not as it should be; its log says more"),
    sqlite3.Error: (500, "the index cannot be read: run `spanwise verify` where it lies"),
    MemoryError: (503, "the memory of the server is not enough for this question"),
}


def fault_of(error: Exception, hidden: Iterable[str] = ()) -> Fault:
    """What a client is told of an error; `hidden` are paths that are never named."""
    if isinstance(error, Refused):
        return error.fault
    for kind, status in _OF_THE_CLIENT.items():
        if isinstance(error, kind):
            name = "BadRequest" if kind is ValueError else type(error).__name__
            return Fault(status, name, without_paths(str(error), hidden))
    for kind, (status, message) in _OF_THE_SERVER.items():
        if isinstance(error, kind):
            name = type(error).__name__ if isinstance(error, errors.SpanwiseError) else "ServerError"
            return Fault(status, name, message)
    return UNEXPECTED


UNEXPECTED = Fault(500, "ServerError", "the request failed; the server's log says why")


def timed_out(seconds: float) -> Fault:
    """What a client is told whose request took longer than this."""
    return Fault(503, "TimedOut", f"this took longer than {seconds:g} seconds")


def is_of_the_server(fault: Fault) -> bool:
    """Whether the one who runs the server should read of it."""
    return fault.status >= 500 and fault.type not in ("Overloaded", "TimedOut", "ShuttingDown")


def without_paths(message: str, hidden: Iterable[str] = ()) -> str:
    """The message in one line, with "…" in place of folders of this machine.

    >>> without_paths("no passage 7 in the index /data/notes/.spanwise", ["/data/notes"])
    'no passage 7 in the index …'
    """
    folders = {*hidden, str(Path.home()), str(Path.cwd()), sys.prefix} - {os.sep, ""}
    for folder in sorted(folders, key=len, reverse=True):
        first, *rest = message.split(folder)
        message = "…".join([first, *map(_behind_path, rest)])
    return " ".join(message.split())


def _behind_path(text: str) -> str:
    """What is left of a text behind the path that it begins within."""
    ends = [at for at, character in enumerate(text) if character.isspace() or character in _NO_PATH]
    return text[ends[0] :] if ends else ""
