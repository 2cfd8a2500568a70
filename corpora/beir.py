"""BEIR folders: documents, queries, and judgements of which documents answer which query.

`corpus.jsonl` has `_id`, `title` and `text` of each document, `queries.jsonl` has `_id` and `text` of each
query, `qrels/SPLIT.tsv` has the judgements; all may be gzipped.

Source: Thakur et al., "BEIR: A Heterogenous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from .records import json_lines, plain_or_gzipped

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
DEFAULT_SPLIT = "test"

Qrels = Mapping[str, Mapping[str, int]]
"""The grade of each judged document by query id and document id; above 0 is relevant."""
QrelsReader = Callable[[Path], Qrels]
"""Reads a file of judgements. The caller passes it, because this room does not import `eval`."""


@dataclass(frozen=True, slots=True)
class CollectionDocument:
    """A document to rank; `title` and `text` may be empty."""

    id: str
    title: str
    text: str


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


def read_beir(folder: Path, split: str | None, read_qrels: QrelsReader) -> Collection:
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
