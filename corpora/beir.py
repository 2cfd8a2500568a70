"""BEIR folders: documents, queries, and judgements of which documents answer which query.

`corpus.jsonl` has `_id`, `title` and `text` of each document, `queries.jsonl` has `_id` and `text` of each
query, `qrels/SPLIT.tsv` has the judgements; all may be gzipped. Judgements in TREC's form are read, too.

Source: Thakur et al., "BEIR: A Heterogenous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", 2021.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from spanwise.errors import DataMalformed

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
DEFAULT_SPLIT = "test"
HEADER = ["query-id", "corpus-id", "score"]
MAX_LINE = 64_000_000  # bytes
MAX_GRADE = 2**31 - 1

_INTEGER, _COLUMN = re.compile(r"[+-]?[0-9]{1,18}"), re.compile(r"\S+", re.ASCII)

Qrels = Mapping[str, Mapping[str, int]]
"""The grade of each judged document by query id and document id; above 0 is relevant."""


@dataclass(frozen=True, slots=True)
class CollectionDocument:
    """A document to rank; `title` and `text` may be empty."""

    id: str
    title: str
    text: str

    @property
    def titled(self) -> str:
        """The title and the text, a line each, as a passage is searched with the heading above it."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Query:
    """A question or topic; `text` is one line and not empty."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Collection:
    """A test collection with unique ids."""

    name: str
    documents: tuple[CollectionDocument, ...]
    queries: tuple[Query, ...]
    qrels: Qrels

    @property
    def judged(self) -> tuple[Query, ...]:
        """The queries that have judgements, in their order."""
        return tuple(query for query in self.queries if query.id in self.qrels)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What the files lack, a line with a count for each kind."""
        documents, queries = {each.id for each in self.documents}, {each.id for each in self.queries}
        judged = [name for grades in self.qrels.values() for name in grades]
        counts = {
            "documents without text": sum(not f"{d.title}{d.text}".strip() for d in self.documents),
            "queries without judgements, left out": len(queries - set(self.qrels)),
            "judged queries without text, left out": len(set(self.qrels) - queries),
            "judgements of missing documents": sum(name not in documents for name in judged),
        }
        return tuple(f"{what}: {count:,}" for what, count in counts.items() if count)


def read_beir(folder: Path, split: str | None = None) -> Collection:
    """The collection with the judgements of a split; None is "test", or the only split there is.

    `DataMalformed` names the file and line that is wrong, `ValueError` lists the splits.
    """
    corpus, queries = (plain_or_gzipped(folder / name) for name in (CORPUS, QUERIES))
    if corpus is None or queries is None:
        raise DataMalformed(f"{folder}: not a BEIR folder (corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv)")
    qrels = read_qrels(_qrels_file(folder, split))
    documents, topics = tuple(_unique(_documents(corpus))), tuple(_unique(_queries(queries)))
    for path, values in ((corpus, documents), (queries, topics)):
        if not values:
            raise DataMalformed(f"{path}: empty")
    return Collection(folder.resolve().name, documents, topics, qrels)


def _qrels_file(folder: Path, split: str | None) -> Path:
    files = {path.name.split(".tsv")[0]: path for path in sorted((folder / QRELS).glob("*.tsv*"))}
    name = split or (DEFAULT_SPLIT if DEFAULT_SPLIT in files or len(files) != 1 else next(iter(files)))
    if name not in files:
        raise ValueError(f"{folder} has no split {name!r}. Choose one of: {', '.join(files) or 'none'}")
    return files[name]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """The grade of each judged document by query: BEIR's columns below their header, or TREC's.

    TREC's columns are `qid 0 docid relevance`, divided by white space. DataMalformed names the file and the
    line: other columns, an empty id, a grade that is no integer, a document judged twice; also no judgements.
    """
    table: dict[str, dict[str, int]] = {}
    names: dict[str, str] = {}  # one string for a document, however many queries have it
    is_beir = False
    for number, (place, line) in enumerate(_lines(path)):
        is_header = line.split() == HEADER
        is_beir = is_beir or (is_header and number == 0)
        if is_header and is_beir:
            continue
        query, document, grade = _beir_row(place, line) if is_beir else _trec_row(place, line)
        if not _INTEGER.fullmatch(grade) or abs(int(grade)) > MAX_GRADE:
            raise DataMalformed(f"{place}: the relevance is {grade!r}; expected an integer")
        grades = table.setdefault(query, {})
        if document in grades:
            raise DataMalformed(f"{place}: document {document!r} is there twice for query {query!r}")
        grades[names.setdefault(document, document)] = int(grade)
    if not table:
        raise DataMalformed(f"{path}: holds no lines; expected a document of a query in each")
    return table


def _beir_row(place: str, line: str) -> Sequence[str]:
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) != 3 or not all(fields):
        raise DataMalformed(f"{place}: expected {' '.join(HEADER)}, divided by tabs and none of them empty")
    return fields


def _trec_row(place: str, line: str) -> Sequence[str]:
    fields = _COLUMN.findall(line)
    if len(fields) != 4:
        wanted = "expected `qid 0 docid relevance`, or BEIR's header above"
        raise DataMalformed(f"{place}: {len(fields)} columns; {wanted}")
    return fields[0], fields[2], fields[3]


def _documents(path: Path) -> Iterator[tuple[str, CollectionDocument]]:
    for record in json_lines(path):
        title = "" if record.values.get("title") is None else record.text("title")
        yield record.place, CollectionDocument(record.name("_id"), title, record.text("text"))


def _queries(path: Path) -> Iterator[tuple[str, Query]]:
    for record in json_lines(path):
        words = " ".join(record.text("text").split())
        if not words:
            raise record.error(f"the query {record.name('_id')!r:.80} is empty")
        yield record.place, Query(record.name("_id"), words)


def _unique(items: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    seen: set[str] = set()
    for place, item in items:
        if not item.id.strip():
            raise DataMalformed(f"{place}: the id is empty")
        if item.id in seen:
            raise DataMalformed(f"{place}: the id {item.id!r:.80} occurs twice")
        seen.add(item.id)
        yield item


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file, with its place for error messages."""

    place: str
    values: dict[str, Any]

    def text(self, key: str) -> str:
        """The string at a key."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self.error(f"expected {key!r} to be a string, found {value!r:.60}")
        return self._storable(key, value)

    def name(self, key: str) -> str:
        """The id at a key: a string, or a whole number as its digits."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.error(f"expected {key!r} to be an id, found {value!r:.60}")
        return self._storable(key, str(value))

    def texts(self, key: str) -> tuple[str, ...]:
        """The array of strings at a key."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.error(f"expected {key!r} to be an array of strings, found {value!r:.60}")
        return tuple(self._storable(key, each) for each in value)

    def numbers(self, key: str) -> tuple[float, ...]:
        """The array of numbers at a key; empty when the key is missing."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(
            type(n) in (int, float) and math.isfinite(n) for n in value
        ):
            raise self.error(f"expected {key!r} to be an array of numbers, found {value!r:.60}")
        return tuple(map(float, value))

    def error(self, what: str) -> DataMalformed:
        """The error that names the place."""
        return DataMalformed(f"{self.place}: {what}")

    def _storable(self, key: str, text: str) -> str:
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error(f"expected {key!r} to be text, found half of a surrogate pair in it")
        return text


def json_lines(path: Path) -> Iterator[Record]:
    """The objects of a JSONL file, plain or gzipped; `DataMalformed` at a line that is not an object."""
    for place, line in _lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataMalformed(f"{place}: not JSON: {error}") from error
        if not isinstance(value, dict):
            raise DataMalformed(f"{place}: expected an object, found {value!r:.60}")
        yield Record(place, value)


def plain_or_gzipped(path: Path) -> Path | None:
    """The file itself, or the one with `.gz` appended; None when neither exists."""
    return next((each for each in (path, path.with_name(path.name + ".gz")) if each.is_file()), None)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that are not blank, each with its place."""
    number = 0
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise DataMalformed(f"{path}, line {number}: longer than {MAX_LINE:,} bytes")
                line = data.decode("utf-8-sig" if number == 1 else "utf-8")
                if line.strip():
                    yield f"{path}, line {number}", line
    except UnicodeDecodeError as error:
        raise DataMalformed(f"{path}, line {number}: not UTF-8: {error.reason}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: cannot be read after line {number}: {error}") from error
