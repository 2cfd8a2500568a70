"""Objects in JSON files, one a line or all in an array, checked key by key: errors name the place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from .packed import malformed, placed_lines, whole_bytes


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a file and where it stands."""

    place: str
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

    def number(self, key: str) -> float:
        """A finite number, or a string that says one."""
        value = self.values.get(key)
        try:
            found = math.nan if value is None or isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if not math.isfinite(found):
            raise self.error(f"expected {key!r} to be a finite number, found {value!r:.60}")
        return found

    def numbers(self, key: str) -> tuple[float, ...]:
        """An array of finite numbers; none where the key is missing."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.error(f"expected {key!r} to be an array, found {value!r:.60}")
        return tuple(
            Record(f"{self.place}, {key}", {str(at): n}).number(str(at)) for at, n in enumerate(value)
        )

    def records(self, key: str) -> list[Record]:
        """An array of objects; none where the key is missing."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.error(f"expected {key!r} to be an array, found {value!r:.60}")
        return [_record(f"{self.place}, {key} {at}", each) for at, each in enumerate(value)]

    def error(self, what: str) -> DataMalformed:
        """The error that names the place."""
        return malformed(self.place, what)

    def _storable(self, key: str, text: str) -> str:
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(f"expected {key!r} to be text, found half of a surrogate pair in it")
        return text


def json_lines(path: Path) -> Iterator[Record]:
    """The objects of a file, one a line; `DataMalformed` at a line that holds none."""
    for place, value in json_values(path):
        yield _record(place, value)


def json_values(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of a file of any kind, one a line, with their places."""
    for place, line in placed_lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise malformed(place, f"no JSON: {error}") from error
        yield place, value


def json_array(path: Path) -> Iterator[Record]:
    """The objects of a file that is one array of them, counted from 0; it is read whole."""
    try:
        values = json.loads(whole_bytes(path))
    except (ValueError, RecursionError) as error:
        raise malformed(str(path), f"no JSON: {error}") from error
    if not isinstance(values, list):
        raise malformed(str(path), f"expected an array, found {values!r:.60}")
    for at, value in enumerate(values):
        yield _record(f"{path}, item {at}", value)


def _record(place: str, value: object) -> Record:
    if not isinstance(value, dict):
        raise malformed(place, f"expected an object, found {value!r:.60}")
    return Record(place, value)
