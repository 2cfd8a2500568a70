"""The tables of DPR: passages `id text title`, and questions with the strings that answer them.

Fields are divided by tabs; one that holds a quote may be quoted as in CSV, with the quotes in it doubled.

Source: Karpukhin et al., "Dense Passage Retrieval for Open-Domain Question Answering", 2020, and the files
that its code reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .collection import CollectionDocument, unique
from .json_records import json_lines
from .packed import malformed, placed_lines

HEADER = ["id", "text", "title"]
MAX_ANSWERS = 1_000_000  # characters of a line's answers: more is no list of answers


@dataclass(frozen=True, slots=True)
class DprQuestion:
    """A question and the strings that answer it, as the file has them: some files hold patterns."""

    text: str
    answers: tuple[str, ...]


def read_passages(path: Path) -> Iterator[CollectionDocument]:
    """The passages of a table, read one by one; `DataMalformed` at an id that was there before."""
    return unique(_passages(path))


def read_questions(path: Path) -> Iterator[DprQuestion]:
    """The questions of a table `question, tab, ['answer', …]`, or of JSON lines with `question`, `answer`."""
    first = next(placed_lines(path), ("", ""))[1]
    return _of_json(path) if first.lstrip().startswith("{") else _of_table(path)


def _passages(path: Path) -> Iterator[tuple[str, CollectionDocument]]:
    lines = ((place, [unquoted(field) for field in line.split("\t")]) for place, line in placed_lines(path))
    for place, fields in lines:
        if fields == HEADER:
            continue
        if len(fields) != len(HEADER):
            raise malformed(place, f"expected {', '.join(HEADER)}, found {len(fields)} columns")
        name, text, title = fields
        yield place, CollectionDocument(name, title, text)


def _of_json(path: Path) -> Iterator[DprQuestion]:
    for record in json_lines(path):
        yield DprQuestion(record.text("question"), record.texts("answer"))


def _of_table(path: Path) -> Iterator[DprQuestion]:
    for place, line in placed_lines(path):
        fields = [unquoted(field) for field in line.split("\t")]
        if len(fields) != 2:
            raise malformed(place, f"expected a question and its answers, found {len(fields)} columns")
        yield DprQuestion(fields[0], _answers(place, fields[1]))


def unquoted(field: str) -> str:
    """The field without the quotes of CSV, where it is well quoted; anything else as it is.

    >>> unquoted('"the ""Bomb Plot"" of 1944"')
    'the "Bomb Plot" of 1944'
    """
    inner = field[1:-1]
    quoted = len(field) > 1 and field[0] == field[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else field


def _answers(place: str, field: str) -> tuple[str, ...]:
    """The strings of a list as Python writes it; nothing is run."""
    try:
        found = ast.literal_eval(field) if len(field) <= MAX_ANSWERS else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        found = None
    if not isinstance(found, list) or not all(isinstance(answer, str) for answer in found):
        raise malformed(place, f"expected answers such as ['one', 'two'], found {field!r:.60}")
    return tuple(found)
