"""Reads JSON and JSON lines: a line "key: value" for a simple value, indented lines for objects and arrays.

A message of a chat export is a line with its time, its sender and its words; the rest of it is left out.
Numbers keep their spelling. A short array of simple values is written on one line. Labels are the paths of
objects and arrays. Text that is not JSON is read as plain text, with a remark.
"""

from collections.abc import Iterable
from json import JSONDecodeError, JSONDecoder
from typing import Any

from spanwise.errors import DocumentRejected
from spanwise.types import Heading

from ..decoding import decode
from .builder import TextBuilder, one_line, source_builder
from .chat_export import message_line

MEDIA_TYPE = "application/json"
LINES = "application/x-ndjson"
MAX_DEPTH = 200  # levels of arrays and objects
MAX_HEADING_DEPTH = 4
MAX_INDENT = 10
MAX_PATH = 200  # characters; the start is cut
MAX_LINE = 100  # characters of an array on one line
CONSTANTS = {True: "true", False: "false", None: "null"}
DECODER = JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)


def read(data: bytes) -> TextBuilder:
    """The document of a JSON file, titled by the member "title" or "name" of its object.

    The file has one value, or one per line. Lines that are not JSON are left out, with a remark.
    `DocumentRejected` above `MAX_DEPTH` levels.
    """
    source, encoding = decode(data)
    writer = JsonWriter()
    titles: list[str] = []
    remark = ""
    try:
        value = parse(source)
        writer.write(value)
        media_type = MEDIA_TYPE
        if isinstance(value, dict):
            titles = [text for key in ("title", "name") if isinstance(text := value.get(key), str)]
    except JSONDecodeError as error:
        records, broken = _parse_lines(source)
        if len(records) <= len(broken):
            remark = f"not JSON ({error}); read as plain text"
            return source_builder("text/plain", (source, encoding), remark=remark)
        for number, record in records:
            writer.write(record, f"record {number}")
        media_type = LINES
        if broken:
            lines = ", ".join(map(str, broken[:3])) + (", …" if len(broken) > 3 else "")
            remark = f"no JSON record on {len(broken)} lines, which are left out: {lines}"
    return writer.builder.described(media_type, *titles, encoding=encoding, remark=remark)


def parse(source: str) -> Any:
    """The value of a JSON text, with numbers as strings; `DocumentRejected` if it is nested too deeply."""
    try:
        return DECODER.decode(source)
    except RecursionError as error:
        raise DocumentRejected(f"JSON nested deeper than {MAX_DEPTH} levels") from error


def _parse_lines(source: str) -> tuple[list[tuple[int, Any]], list[int]]:
    """The objects and arrays with their line numbers, and the numbers of other lines; from 1."""
    records: list[tuple[int, Any]] = []
    broken: list[int] = []
    for number, line in enumerate(source.split("\n"), start=1):
        try:
            value = parse(line) if line.strip() else None
        except JSONDecodeError:
            value = None
        if isinstance(value, dict | list):
            records.append((number, value))
        elif line.strip():
            broken.append(number)
    return records, broken


class JsonWriter:
    """Writes values into `builder`, one below the other."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._place = ""
        self._depth = 0

    def write(self, value: Any, path: str = "") -> None:
        """Write a value after an empty line; a record has a `path`, and its keys are no headings."""
        self.builder.end_line(blank=True)
        self._write(None, value, path, path, 0, bool(path))

    def _write(
        self, key: str | int | None, value: Any, path: str, place: str, n_keys: int, in_array: bool
    ) -> None:
        """Write the member `key` of the object or array at `place`, under `n_keys` keys."""
        if message := message_line(value):
            self._write_line(message, place)
            return
        mark = "" if key is None else "- " if isinstance(key, int) else f"{key}: "
        indent = "  " * min(n_keys, MAX_INDENT)
        line = _line(value)
        if line is not None:
            self._write_line(indent + mark + line, place)
            return
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise DocumentRejected(f"JSON nested deeper than {MAX_DEPTH} levels")
        is_named = isinstance(key, str)
        is_heading = is_named and not in_array and n_keys < MAX_HEADING_DEPTH
        if is_heading or not is_named:
            self.builder.end_line(blank=True)
        if is_named:
            start = self._write_line(indent + mark.rstrip(), path)
            if is_heading:
                self.builder.headings.append(Heading(start, n_keys + 1, one_line(mark[:-2])))
        members: Iterable[tuple[str | int, Any]] = (
            value.items() if isinstance(value, dict) else enumerate(value)
        )
        for inner, member in members:
            is_index = isinstance(inner, int)
            step = f"[{inner}]" if is_index else f".{one_line(str(inner))}"
            inside = (path + step).removeprefix(".")[-MAX_PATH:]
            self._write(inner, member, inside, path, n_keys + is_named, in_array or is_index)
        self._depth -= 1
        self.builder.end_line()

    def _write_line(self, line: str, place: str) -> int:
        """Write a line, with a label if the line above belongs to another object or array."""
        start = self.builder.write(line)
        if place != self._place:
            self.builder.add_label(start, place)
            self._place = place
        self.builder.end_line()
        return start


def _line(value: Any) -> str | None:
    """The value on one line, or None if it needs more lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return None if value else "{}"
    if not isinstance(value, list):
        return CONSTANTS[value]
    if len(value) > MAX_LINE or any(isinstance(element, dict | list) for element in value):
        return None
    line = ", ".join(map(str, map(_line, value)))
    return (line or "[]") if len(line) <= MAX_LINE and "\n" not in line else None
