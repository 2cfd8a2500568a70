"""A library by the path of its index, opened when first needed: for what is written down as settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Any

from spanwise.types import Filter

from ..library import Library
from ..open import open_index


class OpenedLibrary:
    """The library of an index, open from the first `get` to `close`; threads may share it."""

    def __init__(self, index: str | Path) -> None:
        self.path = str(index)
        self._library: Library | None = None
        self._lock = Lock()

    def get(self) -> Library:
        """The library; IndexNotFound where there is no index."""
        with self._lock:
            if self._library is None:
                self._library = open_index(self.path)
            return self._library

    def close(self) -> None:
        """Gives the index back; the next `get` opens it again."""
        with self._lock:
            if self._library is not None:
                self._library.close()
                self._library = None


def filter_of(where: Mapping[str, Any] | None) -> Filter | None:
    """The filter that plain values stand for; ValueError names a condition that there is not.

    >>> filter_of({"types": ["md"]})
    Filter(paths=(), types=('md',), after=None, before=None, metadata={})
    """
    if where is None:
        return None
    known = ("paths", "types", "after", "before", "metadata")
    if unknown := [key for key in where if key not in known]:
        raise ValueError(f"a filter has {', '.join(known)}, not {', '.join(map(repr, unknown))}")
    return Filter(**where)


def plain_filter(where: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The same with lists for tuples and ISO 8601 for dates, as it can be written down."""
    if where is None:
        return None
    plain: dict[str, Any] = {}
    for key, value in where.items():
        if isinstance(value, date):
            plain[key] = value.isoformat()
        elif isinstance(value, Mapping):
            plain[key] = dict(value)
        else:
            plain[key] = list(value) if isinstance(value, tuple) else value
    return plain
