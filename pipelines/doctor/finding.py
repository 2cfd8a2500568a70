"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """How bad it is: `NOTE` is nothing bad, `WARN` is worth a look, with `FAIL` something does not work."""

    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """The subject of a check, its state, what was seen, and what to do unless all is well."""

    subject: str
    state: State
    seen: str
    advice: str = ""


def ok(subject: str, seen: str) -> Finding:
    """All is well."""
    return Finding(subject, State.OK, seen)


def note(subject: str, seen: str, advice: str) -> Finding:
    """Nothing is wrong; there could be more."""
    return Finding(subject, State.NOTE, seen, advice)


def warn(subject: str, seen: str, advice: str) -> Finding:
    """Worth a look."""
    return Finding(subject, State.WARN, seen, advice)


def fail(subject: str, seen: str, advice: str = "") -> Finding:
    """Something does not work."""
    return Finding(subject, State.FAIL, seen, advice)
