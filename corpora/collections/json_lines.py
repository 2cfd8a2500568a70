"""Records of JSON, checked key by key: what is wrong is said with file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from .packed import malformed, numbered_lines


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a JSON lines file and where it stands."""

    path: Path
    line: int
    values: dict[str, Any]

    def text(self, key: str, default: str | None = None) -> str:
        """A string; the default where the key is missing or null."""
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self.error(f"expected {key!r} to be a string, found {value!r:.60}")
        return self._storable(key, value)

    def name(self, key: str) -> str:
        """An id: a string, or a whole number as its digits."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.error(f"expected {key!r} to be an id, found {value!r:.60}")
        return self._storable(key, str(value))

    def texts(self, key: str) -> tuple[str, ...]:
        """An array of strings."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.error(f"expected {key!r} to be an array of strings, found {value!r:.60}")
        return tuple(self._storable(key, each) for each in value)

    def error(self, what: str) -> DataMalformed:
        """The error that names the place."""
        return malformed(self.path, self.line, what)

    def _storable(self, key: str, text: str) -> str:
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(f"expected {key!r} to be text, found half of a surrogate pair in it")
        return text


def json_lines(path: Path) -> Iterator[Record]:
    """The objects of a file, one a line; `DataMalformed` at a line that holds none."""
    for number, line in numbered_lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise malformed(path, number, f"no JSON: {error}") from error
        if not isinstance(value, dict):
            raise malformed(path, number, f"expected an object, found {value!r:.60}")
        yield Record(path, number, value)
