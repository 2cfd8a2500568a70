"""Reads BEIR folders: documents, queries, and judgements of which documents answer which query.

`corpus.jsonl` has the `_id`, `title` and `text` of each document, `queries.jsonl` the `_id` and `text` of
each query, and `qrels/SPLIT.tsv` the judgements. All may be gzipped. Judgements may be in TREC's format.

Source: Thakur et al., "BEIR: A Heterogenous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", 2021.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from ..json_lines import json_lines, plain_or_gzipped, text_lines

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
QRELS = "qrels"
DEFAULT_SPLIT = "test"
HEADER = ["query-id", "corpus-id", "score"]
MAX_GRADE = 2**31 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_COLUMN = re.compile(r"\S+", re.ASCII)

Qrels = Mapping[str, Mapping[str, int]]
"""The grade of each judged document, by query id and document id; a grade above 0 means relevant."""


@dataclass(frozen=True, slots=True)
class CollectionDocument:
    """A document to rank.

    id: unique in its collection.
    title, text: may be empty.
    """

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question or topic.

    id: unique in its collection.
    text: one line, not empty.
    """

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Collection:
    """A test collection.

    name: the name of its folder.
    documents: the documents to rank.
    queries: the questions, with and without judgements.
    qrels: the judgements, see `Qrels`.
    """

    name: str
    documents: tuple[CollectionDocument, ...]
    queries: tuple[Query, ...]
    qrels: Qrels

    @property
    def judged(self) -> tuple[Query, ...]:
        """The queries that have judgements, in order."""
        return tuple(query for query in self.queries if query.id in self.qrels)

    @property
    def gaps(self) -> tuple[str, ...]:
        """One line with a count for each kind of thing that is missing in the files."""
        documents = {document.id for document in self.documents}
        queries = {query.id for query in self.queries}
        judged = [name for grades in self.qrels.values() for name in grades]
        counts = {
            "documents without text": sum(not f"{d.title}{d.text}".strip() for d in self.documents),
            "queries without judgements, left out": len(queries - set(self.qrels)),
            "judged queries without text, left out": len(set(self.qrels) - queries),
            "judgements of missing documents": sum(name not in documents for name in judged),
        }
        return tuple(f"{what}: {count:,}" for what, count in counts.items() if count)


def read_beir(folder: Path, split: str | None = None) -> Collection:
    """The collection in a folder, with the judgements of a split: by default "test", or the only one.

    `DataMalformed` names the file and line that is wrong. `ValueError` lists the splits.
    """
    corpus = plain_or_gzipped(folder / CORPUS)
    queries = plain_or_gzipped(folder / QUERIES)
    if corpus is None or queries is None:
        raise DataMalformed(f"{folder}: not a BEIR folder (corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv)")
    qrels = read_qrels(_qrels_file(folder, split))
    return Collection(
        name=folder.resolve().name,
        documents=_unique(corpus, _documents(corpus)),
        queries=_unique(queries, _queries(queries)),
        qrels=qrels,
    )


def _qrels_file(folder: Path, split: str | None) -> Path:
    files = {path.name.split(".tsv")[0]: path for path in sorted((folder / QRELS).glob("*.tsv*"))}
    name = split or (DEFAULT_SPLIT if DEFAULT_SPLIT in files or len(files) != 1 else next(iter(files)))
    if name not in files:
        raise ValueError(f"{folder} has no split {name!r}. Choose one of: {', '.join(files) or 'none'}")
    return files[name]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """The grade of each judged document by query, from a file in the format of BEIR or of TREC.

    TREC's columns are `qid 0 docid relevance`, separated by white space. `DataMalformed` names the file and
    line of other columns, an empty id, a grade that is no integer, or a document judged twice. It is also
    raised for a file without judgements.
    """
    table: dict[str, dict[str, int]] = {}
    names: dict[str, str] = {}  # equal ids share memory
    is_beir = False
    for number, (place, line) in enumerate(text_lines(path)):
        is_header = line.split() == HEADER
        is_beir = is_beir or (is_header and number == 0)
        if is_header and is_beir:
            continue
        query, document, grade = _beir_row(place, line) if is_beir else _trec_row(place, line)
        if not _INTEGER.fullmatch(grade) or abs(int(grade)) > MAX_GRADE:
            raise DataMalformed(f"{place}: the relevance is {grade!r}; expected an integer")
        grades = table.setdefault(query, {})
        if document in grades:
            raise DataMalformed(f"{place}: document {document!r} is judged twice for query {query!r}")
        grades[names.setdefault(document, document)] = int(grade)
    if not table:
        raise DataMalformed(f"{path}: no judgements. Write a query, a document and a grade per line")
    return table


def _beir_row(place: str, line: str) -> Sequence[str]:
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) != 3 or not all(fields):
        raise DataMalformed(f"{place}: expected {' '.join(HEADER)}, separated by tabs and none of them empty")
    return fields


def _trec_row(place: str, line: str) -> Sequence[str]:
    fields = _COLUMN.findall(line)
    if len(fields) != 4:
        expected = "expected `qid 0 docid relevance`, or BEIR's header above"
        raise DataMalformed(f"{place}: {len(fields)} columns; {expected}")
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


def _unique(path: Path, items: Iterable[tuple[str, Any]]) -> tuple[Any, ...]:
    """The items of a file in order; each comes with its place, for error messages."""
    by_id: dict[str, Any] = {}
    for place, item in items:
        if not item.id.strip():
            raise DataMalformed(f"{place}: the id is empty")
        if item.id in by_id:
            raise DataMalformed(f"{place}: the id {item.id!r:.80} occurs twice")
        by_id[item.id] = item
    if not by_id:
        raise DataMalformed(f"{path}: empty")
    return tuple(by_id.values())
