"""Judgements read from TREC's and BEIR's files, and rankings written as TREC runs.

run                `qid Q0 docid rank score tag`, divided by white space
TREC judgements    `qid 0 docid relevance`, divided by white space
BEIR judgements    tab-separated, with the header `query-id corpus-id score`

Judgements are read plain or gzipped. White space and "%" in the ids of a run are percent-encoded.
Source: the input formats of trec_eval; the BEIR repository.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from spanwise.errors import DataMalformed

T = TypeVar("T")
Row = tuple[str, str, T]  # the ids of the query and the document, and the value

MAX_INTEGER = 2**31 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_ENCODED = re.compile(r"[\s%]")
_GZIP_MAGIC, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
_BEIR_HEADER = ["query-id", "corpus-id", "score"]


def run_lines(query: str, ranking: Iterable[tuple[str, float]], tag: str) -> Iterator[str]:
    """The lines of one query, best first; ranks count from 1.

    >>> list(run_lines("q1", [("d7", 2.5)], "bm25"))
    ['q1 Q0 d7 1 2.5 bm25\\n']
    """
    for rank, (document, score) in enumerate(ranking, start=1):
        yield f"{trec_id(query)} Q0 {trec_id(document)} {rank} {float(score)!r} {trec_id(tag)}\n"


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """The relevance of each judged document by query, from a file of either format.

    DataMalformed names the file and the line: other columns, an empty id, a relevance that is not an integer,
    a document judged twice for a query; also a file that cannot be read or holds no judgements.
    """
    return _read_table(path, lambda first: _beir_row if _is_beir_header(first) else _trec_row)


def trec_id(name: str) -> str:
    """The id as a run or judgements of TREC hold it; ValueError: an empty one.

    >>> trec_id("My notes/mill.md")
    'My%20notes/mill.md'
    """
    if not name:
        raise ValueError("an id is empty; a run or judgements cannot hold it")
    return _ENCODED.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)


def _trec_row(line: bytes) -> Row[int]:
    fields = line.split()
    if len(fields) != 4:
        raise ValueError(f"{len(fields)} columns; expected `qid 0 docid relevance`, or BEIR's header above")
    return fields[0].decode(), fields[2].decode(), _integer("relevance", fields[3])


def _is_beir_header(line: bytes) -> bool:
    return line.split() == [name.encode() for name in _BEIR_HEADER]


def _beir_row(line: bytes) -> Row[int] | None:
    if _is_beir_header(line):
        return None
    fields = line.split(b"\t")
    if len(fields) != 3 or not all(fields):
        raise ValueError(f"expected {' '.join(_BEIR_HEADER)}, divided by tabs and none of them empty")
    return fields[0].decode(), fields[1].decode(), _integer("score", fields[2])


def _integer(name: str, field: bytes) -> int:
    text = field.decode()
    if not _INTEGER.fullmatch(text) or abs(int(text)) > MAX_INTEGER:
        raise ValueError(f"the {name} is {text!r}; expected an integer")
    return int(text)


def _read_table(
    path: Path, choose: Callable[[bytes], Callable[[bytes], Row[T] | None]]
) -> dict[str, dict[str, T]]:
    """The values by query and document, in the order of the file; blank lines are ignored.

    `choose` is given the first line and returns the parser of all lines, which returns None for a header.
    """
    table: dict[str, dict[str, T]] = {}
    names: dict[str, str] = {}  # one string for a document, however many queries have it
    parse: Callable[[bytes], Row[T] | None] | None = None
    for number, line in _numbered_lines(path):
        try:
            parse = parse or choose(line)
            row = parse(line)
            if row is None:
                continue
            query, document, value = row
            values = table.setdefault(query, {})
            if document in values:
                raise ValueError(f"document {document!r} is there twice for query {query!r}")
            values[names.setdefault(document, document)] = value
        except ValueError as error:
            raise DataMalformed(f"{path}, line {number}: {error}") from error
    if not table:
        raise DataMalformed(f"{path}: holds no lines; expected a document of a query in each")
    return table


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        with gzip.open(path) if packed else path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                line = line.removeprefix(_BOM) if number == 1 else line
                if line.strip():
                    yield number, line.rstrip(b"\r\n")
    except OSError as error:
        raise DataMalformed(f"{path}: cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: damaged gzip file: {error}") from error
