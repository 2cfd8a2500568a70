"""JSON of data sets, plain or gzipped, as objects that check their values."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from spanwise.errors import DataMalformed

GZIP = b"\x1f\x8b"
MAX_LINE = 64_000_000  # bytes
DAMAGE = (OSError, EOFError, zlib.error)  # what reading a file raises
Kind = TypeVar("Kind")
NAMES = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object; each method raises `DataMalformed` for a wrong value.

    place: the file and line, or the path inside a file, for error messages.
    values: the values by key.
    """

    place: str
    values: dict[str, Any]

    def value(self, key: str, kind: type[Kind]) -> Kind:
        """The value of a key; True does not count as a whole number."""
        value = self.values.get(key)
        if type(value) is not kind:
            raise self.error(f"expected {key!r} to be {NAMES[kind]}, found {value!r:.60}")
        return value

    def text(self, key: str) -> str:
        """The string at a key."""
        return self._storable(key, self.value(key, str))

    def name(self, key: str) -> str:
        """The id at a key: a string, or a whole number as its digits."""
        value = self.values.get(key)
        if type(value) not in (str, int):
            raise self.error(f"expected {key!r} to be an id, found {value!r:.60}")
        return self._storable(key, str(value))

    def texts(self, key: str) -> tuple[str, ...]:
        """The array of strings at a key."""
        values = self.value(key, list)
        if not all(isinstance(value, str) for value in values):
            raise self.error(f"expected {key!r} to be a list of strings, found {values!r:.60}")
        return tuple(self._storable(key, value) for value in values)

    def numbers(self, key: str) -> tuple[float, ...]:
        """The array of numbers at a key; empty when the key is missing."""
        values = self.value(key, list) if key in self.values else []
        if not all(type(n) in (int, float) and math.isfinite(n) for n in values):
            raise self.error(f"expected {key!r} to be a list of numbers, found {values!r:.60}")
        return tuple(map(float, values))

    def objects(self, key: str, noun: str) -> Iterator[JsonObject]:
        """The objects of the array at a key; `noun` and their index are part of their place."""
        for number, value in enumerate(self.value(key, list)):
            yield json_object(f"{self.place}, {noun} {number}", value)

    def named(self, name: str) -> JsonObject:
        """The same object with a name after its place."""
        return replace(self, place=f"{self.place} ({name!r:.60})")

    def error(self, what: str) -> DataMalformed:
        """An error that names the place."""
        return DataMalformed(f"{self.place}: {what}")

    def _storable(self, key: str, text: str) -> str:
        if has_surrogate(text):
            raise self.error(f"expected {key!r} to be text, found half of a surrogate pair in it")
        return text


def has_surrogate(text: str) -> bool:
    """True when the text holds half of a surrogate pair, which cannot be stored."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def json_object(place: str, value: object) -> JsonObject:
    """A JSON value as an object; `DataMalformed` if it is not one."""
    if not isinstance(value, dict):
        raise DataMalformed(f"{place}: expected an object, found {value!r:.60}")
    return JsonObject(place, value)


def json_lines(path: Path) -> Iterator[JsonObject]:
    """The objects of a file, one per line; `DataMalformed` for a line that is not an object."""
    for place, line in text_lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataMalformed(f"{place}: not JSON: {error}") from error
        yield json_object(place, value)


def text_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that are not blank, each with its place."""
    number = 0
    try:
        with unpacked(path) as file:
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise DataMalformed(f"{path}, line {number}: longer than {MAX_LINE:,} bytes")
                line = data.decode("utf-8-sig" if number == 1 else "utf-8")
                if line.strip():
                    yield f"{path}, line {number}", line
    except UnicodeDecodeError as error:
        raise DataMalformed(f"{path}, line {number}: not UTF-8: {error.reason}") from error
    except DAMAGE as error:
        raise DataMalformed(f"{path}: cannot be read after line {number}: {error}") from error


def plain_or_gzipped(path: Path) -> Path | None:
    """The file, or the one with `.gz` appended, or None if neither exists."""
    return next(filter(Path.is_file, (path, path.with_name(path.name + ".gz"))), None)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked when it is gzipped."""
    with path.open("rb") as raw:
        packed = raw.read(2) == GZIP
        raw.seek(0)
        yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
