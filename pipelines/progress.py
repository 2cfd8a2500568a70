"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[str, int, int], None]
"""Hears (stage, done, total) while work goes on: "files" and "bytes" that are read, passages to "encode", and
passages whose "tokens" are to be."""


def silent(stage: str, done: int, total: int) -> None:
    """Reports nothing."""
