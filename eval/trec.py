"""Runs and judgements in files: TREC's formats, and the judgements of a BEIR folder.

run                `qid Q0 docid rank score tag`, divided by white space
TREC judgements    `qid 0 docid relevance`, divided by white space
BEIR judgements    tab-separated, with the header `query-id corpus-id score`

Files are read plain or gzipped, and written gzipped where the name ends in `.gz`. White space and "%" in ids
are percent-encoded in TREC's formats; reading decodes nothing.
Source: the input formats of trec_eval; the BEIR repository.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeVar

from spanwise.errors import DataMalformed

from .ranking import Qrels, Run, trec_order

T = TypeVar("T")
Row = tuple[str, str, T]  # the ids of the query and the document, and the value

MAX_INTEGER = 2**31 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_ENCODED = re.compile(r"[\s%]")
_GZIP_MAGIC, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"
_BEIR_HEADER = ["query-id", "corpus-id", "score"]


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """The score of each document found by query, ids as written; rank and tag are not read.

    DataMalformed names the file and the line: other columns, a score that is not a number, a document found
    twice for a query; also a file that cannot be read or holds no lines.
    """
    return _read_table(path, lambda first: _run_row)


def write_run(path: Path, run: Run, tag: str = "spanwise") -> None:
    """Write the documents of each query, best first in the order of trec_eval; `tag` names the system.

    ValueError: an empty id or a score that is not a number.
    """
    ordered = ((query, scores, trec_order(scores)) for query, scores in run.items())
    _write_lines(
        path,
        (
            line
            for query, scores, documents in ordered
            for line in run_lines(query, ((document, scores[document]) for document in documents), tag)
        ),
    )


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


def write_qrels(path: Path, qrels: Qrels, form: Literal["trec", "beir"] = "trec") -> None:
    """Write the judgements. ValueError: an empty id, or for BEIR one with a tab or a line end."""
    _write_lines(path, _beir_lines(qrels) if form == "beir" else _trec_lines(qrels))


def trec_id(name: str) -> str:
    """The id as a run or judgements of TREC hold it; ValueError: an empty one.

    >>> trec_id("My notes/mill.md")
    'My%20notes/mill.md'
    """
    if not name:
        raise ValueError("an id is empty; a run or judgements cannot hold it")
    return _ENCODED.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)


def _run_row(line: bytes) -> Row[float]:
    fields = line.split()  # at ASCII white space alone, as in C
    if len(fields) != 6:
        raise ValueError(f"{len(fields)} columns; expected `qid Q0 docid rank score tag`")
    try:
        score = math.nan if b"_" in fields[4] else float(fields[4])  # only Python reads 1_0 as a number
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise ValueError(f"the score is {fields[4].decode()!r}; expected a number")
    return fields[0].decode(), fields[2].decode(), score


def _trec_row(line: bytes) -> Row[int]:
    fields = line.split()
    if len(fields) != 4:
        raise ValueError(f"{len(fields)} columns; expected `qid 0 docid relevance`, or BEIR's header above")
    return fields[0].decode(), fields[2].decode(), _integer("relevance", fields[3])


def _trec_lines(qrels: Qrels) -> Iterator[str]:
    for query, judged in qrels.items():
        for document, relevance in judged.items():
            yield f"{trec_id(query)} 0 {trec_id(document)} {relevance}\n"


def _is_beir_header(line: bytes) -> bool:
    return line.split() == [name.encode() for name in _BEIR_HEADER]


def _beir_row(line: bytes) -> Row[int] | None:
    if _is_beir_header(line):
        return None
    fields = line.split(b"\t")
    if len(fields) != 3 or not all(fields):
        raise ValueError(f"expected {' '.join(_BEIR_HEADER)}, divided by tabs and none of them empty")
    return fields[0].decode(), fields[1].decode(), _integer("score", fields[2])


def _beir_lines(qrels: Qrels) -> Iterator[str]:
    yield "\t".join(_BEIR_HEADER) + "\n"
    for query, judged in qrels.items():
        for document, relevance in judged.items():
            if not query or not document or set("\t\r\n") & set(query + document):
                raise ValueError(f"BEIR's format cannot hold the ids {query!r} and {document!r}")
            yield f"{query}\t{document}\t{relevance}\n"


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


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines as UTF-8; the file is replaced only after all are written."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            if path.suffix == ".gz":  # without name and time, so that equal lines give equal bytes
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    packed.writelines(line.encode() for line in lines)
            else:
                file.writelines(line.encode() for line in lines)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
