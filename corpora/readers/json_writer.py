"""The lines of JSON values: "key: value" for what is simple, keys with indented lines below for the rest.

Short arrays of simple values share a line, longer ones are lists; objects in arrays are paragraphs. A label
is the path of the array or object that a line stands in. Left out: all but the first numbers of long arrays
of numbers, however nested (coordinates, vectors), and the rest of a string after a thousand characters of
a base64 alphabet without a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

from spanwise.errors import DocumentRejected
from spanwise.types import Heading

from .text_builder import TextBuilder

MAX_DEPTH = 200  # levels of arrays and objects
MAX_HEADING = 4  # levels of keys that are headings
MAX_INDENT = 10  # levels that are shown
MAX_KEY = 60  # characters of a key in a path
MAX_PATH = 200  # characters of a path; its end is kept
MANY_NUMBERS, SHOWN_NUMBERS = 32, 8
LINE = 100  # characters of an array that shares a line
SHOWN_BLOB = 1000  # characters of an encoded string
BLOB = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{SHOWN_BLOB + 1},}}+")
CONSTANTS = {True: "true", False: "false", None: "null"}


class Number(str):
    """A number as it is spelt in the file."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Members:
    """The members of an object in order; a key may come twice."""

    pairs: list[tuple[str, Value]]


Value: TypeAlias = "str | bool | Members | list[Value] | None"


class _Item(NamedTuple):
    """A value to be written: its key or index in the array or object at the path `place`."""

    key: str | int | None
    value: Value
    place: str
    indent: int
    in_array: bool

    @property
    def path(self) -> str:
        """Where the value stands, as in `items[3].title`; only the end of a long path."""
        if self.key is None:
            return self.place
        step = f"[{self.key}]" if isinstance(self.key, int) else f".{' '.join(self.key[:MAX_KEY].split())}"
        return (self.place + step).removeprefix(".")[-MAX_PATH:]

    @property
    def mark(self) -> str:
        """What stands before the value on its line."""
        mark = "" if self.key is None else "- " if isinstance(self.key, int) else f"{self.key}: "
        return "  " * min(self.indent, MAX_INDENT) + mark


class JsonWriter:
    """Writes values one below the other into `builder`."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._numbers = 0
        self._blobs = 0
        self._numeric: set[int] = set()  # the arrays of nothing but numbers, by identity
        self._place = ""

    @property
    def left_out(self) -> str:
        """What was left out, in words; empty when nothing was."""
        numbers = f"{self._numbers:,} numbers of long arrays" if self._numbers else ""
        blobs = f"the ends of {self._blobs:,} encoded strings" if self._blobs else ""
        what = " and ".join(filter(None, (numbers, blobs)))
        return f"left out: {what}" if what else ""

    def write(self, value: Value, path: str = "") -> None:
        """Write a value after an empty line; `path` is that of a record, whose keys are no headings.

        `DocumentRejected` when it is nested deeper than `MAX_DEPTH`.
        """
        self._numeric = numeric_arrays(value)
        open_values = [iter([_Item(None, value, path, 0, bool(path))])]
        self.builder.end_line(blank=True)
        while open_values:
            item = next(open_values[-1], None)
            if item is None:
                open_values.pop()
                self.builder.end_line()
            elif (line := self._line(item.value)) is not None:
                self._write_line(item.mark + line, item.place)
            elif len(open_values) > MAX_DEPTH:
                raise DocumentRejected(f"JSON nested deeper than {MAX_DEPTH} levels")
            else:
                open_values.append(self._open(item))

    def _line(self, value: Value) -> str | None:
        """The value on one line, None for an array or object that needs more."""
        if isinstance(value, str):
            return self._without_blobs(value)
        if isinstance(value, Members):
            return None if value.pairs else "{}"
        if not isinstance(value, list):
            return CONSTANTS[value]
        if id(value) in self._numeric:
            return self._some_numbers(value)
        if any(isinstance(one, Members | list) for one in value):
            return None
        if not value:
            return "[]"
        words = [self._line(one) or "" for one in islice(value, LINE)]
        line = ", ".join(words)
        return line if len(value) <= LINE and len(line) <= LINE and "\n" not in line else None

    def _without_blobs(self, text: str) -> str:
        if len(text) <= SHOWN_BLOB:
            return text
        short, n_blobs = BLOB.subn(lambda blob: blob[0][:SHOWN_BLOB] + "…", text)
        self._blobs += n_blobs
        return short

    def _some_numbers(self, array: Value) -> str:
        numbers = list(numbers_in(array))
        if len(numbers) <= MANY_NUMBERS:
            return ", ".join(numbers)
        self._numbers += len(numbers) - SHOWN_NUMBERS
        return ", ".join(numbers[:SHOWN_NUMBERS]) + ", …"

    def _write_line(self, line: str, place: str) -> int:
        """Write a line, and say where it stands unless the line before stood there too."""
        start = self.builder.write(line)
        if place != self._place:
            self.builder.add_label(start, place)
            self._place = place
        self.builder.end_line()
        return start

    def _open(self, item: _Item) -> Iterator[_Item]:
        """What stands in an array or object, below its key, or after an empty line when it has none."""
        is_heading = isinstance(item.key, str) and not item.in_array and item.indent < MAX_HEADING
        if is_heading or not isinstance(item.key, str):
            self.builder.end_line(blank=True)
        if isinstance(item.key, str):
            start = self._write_line(item.mark.rstrip(), item.path)
            if is_heading:
                self.builder.headings.append(Heading(start, item.indent + 1, " ".join(item.key.split())))
        indent = item.indent + isinstance(item.key, str)
        if isinstance(item.value, Members):
            return (_Item(key, value, item.path, indent, item.in_array) for key, value in item.value.pairs)
        values = item.value if isinstance(item.value, list) else []
        return (_Item(index, value, item.path, indent, True) for index, value in enumerate(values))


def numeric_arrays(value: Value) -> set[int]:
    """The identities of the arrays that hold numbers and nothing else, at any depth; empty ones do not."""
    arrays: list[list[Value]] = []
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, Members):
            todo.extend(member for _, member in one.pairs if isinstance(member, Members | list))
        elif isinstance(one, list):
            arrays.append(one)
            todo.extend(element for element in one if isinstance(element, Members | list))
    numeric: set[int] = set()
    for array in reversed(arrays):
        if array and all(type(one) is Number or id(one) in numeric for one in array):
            numeric.add(id(array))
    return numeric


def numbers_in(array: Value) -> Iterator[str]:
    """The numbers of a numeric array, in order, whatever arrays they are in."""
    todo = [array]
    while todo:
        one = todo.pop()
        if isinstance(one, list):
            todo.extend(reversed(one))
        else:
            yield str(one)
