"""JSON and JSON lines: what stands in the objects, one "key: value" a line, as `json_writer` writes it.

The standard library parses; numbers keep the spelling of the file, duplicate keys are all kept, NaN and
lone surrogate escapes are let pass. What is no JSON but text is read as plain text, with a remark.
"""

from __future__ import annotations

from hashlib import sha256
from json import JSONDecodeError, JSONDecoder

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from ..decoding import decode
from .json_writer import MAX_DEPTH, JsonWriter, Members, Number, Value
from .source import unparsed
from .titles import choose_title

MEDIA_TYPE = "application/json"
LINES = "application/x-ndjson"
TITLES = ("title", "name")
SHOWN_LINES = 3  # numbers of broken lines that a remark names


def read(data: bytes, document_id: str) -> Document:
    """The document of a JSON file, or of one value a line; title from the top object's title or name.

    Lines that are no JSON are left out and remarked. `DocumentRejected` above `MAX_DEPTH` levels.
    """
    source, encoding = decode(data)
    writer, media_type, title, remarks = JsonWriter(), MEDIA_TYPE, "", []
    try:
        value = parse(source)
        title = _title(value)
        writer.write(value)
    except JSONDecodeError as error:
        records, broken = parse_lines(source)
        if len(records) <= len(broken):
            return unparsed(data, document_id, encoding, f"it is no JSON ({error})")
        for number, record in records:
            writer.write(record, f"record {number}")
        media_type = LINES
        remarks += [_broken_remark(broken)] if broken else []
    remarks += [writer.left_out] if writer.left_out else []
    return Document(
        id=document_id,
        media_type=media_type,
        sha256=sha256(data).hexdigest(),
        title=choose_title(title, document_id=document_id),
        text=writer.builder.text,
        headings=tuple(writer.builder.headings),
        labels=tuple(writer.builder.labels),
        metadata={"encoding": encoding, **({"remark": "; ".join(remarks)} if remarks else {})},
    )


def parse(source: str) -> Value:
    """The value of a JSON text, objects as `Members`; `DocumentRejected` when it is nested too deep."""
    try:
        value: Value = DECODER.decode(source)
    except RecursionError as error:
        raise DocumentRejected(f"JSON nested deeper than {MAX_DEPTH} levels") from error
    return value


DECODER = JSONDecoder(
    object_pairs_hook=Members, parse_int=Number, parse_float=Number, parse_constant=Number, strict=False
)


def parse_lines(source: str) -> tuple[list[tuple[int, Value]], list[int]]:
    """The arrays and objects that each fill a line, with its number from 1; the numbers of other lines."""
    records: list[tuple[int, Value]] = []
    broken = []
    for number, line in enumerate(source.split("\n"), start=1):
        try:
            value = parse(line) if line.strip() else None
        except JSONDecodeError:
            value = None
        if isinstance(value, Members | list):
            records.append((number, value))
        elif line.strip():
            broken.append(number)
    return records, broken


def _broken_remark(broken: list[int]) -> str:
    lines = ", ".join(map(str, broken[:SHOWN_LINES])) + (", …" if len(broken) > SHOWN_LINES else "")
    return f"no JSON record on {len(broken)} of its lines, which are left out: {lines}"


def _title(value: Value) -> str:
    """The text of the first member of the top object that is named like a title."""
    members = dict(reversed(value.pairs)) if isinstance(value, Members) else {}
    return next((str(text) for key in TITLES if type(text := members.get(key)) is str), "")
