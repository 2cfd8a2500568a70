"""The record format of the SMART system: `.I number` begins a record, `.T`, `.W` and so on its fields.

Source: the files themselves, as the University of Glasgow distributes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from .collection import CollectionDocument, Qrels, number_id
from .packed import malformed, place, placed_lines, whole_text

_RECORD = re.compile(r"\.I\s+([0-9]{1,18})\s*")
_FIELD = re.compile(r"(\.[A-Z])\s*")


@dataclass(frozen=True, slots=True)
class SmartRecord:
    """One record: where it begins, its number, its fields by mark, and how many marks were none."""

    place: str
    number: int
    fields: Mapping[str, str]
    n_repeated: int


def smart_records(path: Path) -> Iterator[SmartRecord]:
    """The records in order; `DataMalformed` for text before the first one and outside of fields.

    A field that its record has already is none: the line is damaged text, and what follows it goes on with
    the field before.
    """
    lines = whole_text(path).split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith(".I")]
    for at in range(starts[0] if starts else len(lines)):
        if lines[at].strip():
            raise malformed(place(path, at + 1), f"expected '.I number', found {lines[at]!r:.60}")
    for start, end in pairwise([*starts, len(lines)]):
        yield _record(path, start + 1, lines[start:end])


def _record(path: Path, line: int, lines: list[str]) -> SmartRecord:
    number = _RECORD.fullmatch(lines[0])
    if number is None:
        raise malformed(place(path, line), f"expected '.I number', found {lines[0]!r:.60}")
    fields: dict[str, list[str]] = {}
    current: list[str] | None = None
    n_repeated = 0
    for at, text in enumerate(lines[1:], start=line + 1):
        mark = _FIELD.fullmatch(text)
        if mark is not None and mark[1] not in fields:
            current = fields.setdefault(mark[1], [])
        elif mark is not None:
            n_repeated += 1
        elif current is not None:
            current.append(text)
        elif text.strip():
            raise malformed(place(path, at), f"expected a field such as '.W', found {text!r:.60}")
    joined = {name: "\n".join(parts).strip() for name, parts in fields.items()}
    return SmartRecord(place(path, line), int(number[1]), joined, n_repeated)


def bibliographic(record: SmartRecord) -> tuple[str, CollectionDocument]:
    """The document of a record with its place. Its text is the abstract, the authors and the keywords.

    Where it was published, when it was entered and what cites it (`.B`, `.N`, `.C`, `.X`) is left out.
    """
    parts = (record.fields.get(mark, "") for mark in (".W", ".A", ".K"))
    text = "\n\n".join(part for part in parts if part)
    document = CollectionDocument(str(record.number), record.fields.get(".T", ""), text)
    return record.place, document


def repeated_note(records: list[SmartRecord]) -> list[str]:
    """A note on field marks that stand twice in a record, if any do."""
    numbers = [record.number for record in records if record.n_repeated]
    where = ", ".join(map(str, numbers[:5])) + ("…" if len(numbers) > 5 else "")
    return [f"field marks within text, passed over, in documents: {where}"] if numbers else []


def judgements(path: Path, n_columns: int, grade: Callable[[list[str]], int | None]) -> Qrels:
    """Judgements in lines of `query document …`; `grade` says what a line's columns mean, None for nothing.

    Numbers lose their leading zeros. `DataMalformed` for a line of another form or a pair judged twice.
    """
    qrels: dict[str, dict[str, int]] = {}
    for where, line in placed_lines(path):
        values = line.split()
        query, document = [number_id(value) for value in [*values, "", ""][:2]]
        given = grade(values) if len(values) == n_columns else None
        if query is None or document is None or given is None:
            raise malformed(where, f"expected a judgement in {n_columns} columns, found {line!r:.60}")
        if document in qrels.setdefault(query, {}):
            raise malformed(where, f"query {query} judges document {document} twice")
        qrels[query][document] = given
    return qrels
