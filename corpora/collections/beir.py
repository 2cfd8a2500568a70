"""BEIR folders: `corpus.jsonl`, `queries.jsonl`, `qrels/SPLIT.tsv`, each plain or gzipped.

Source: Thakur et al., "BEIR: A Heterogenous Benchmark for Zero-shot Evaluation of Information Retrieval
Models", 2021, and the data that came with it: `_id`, `title` and `text` of a document, `_id` and `text` of
a query, judgements under the header `query-id corpus-id score`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .collection import (
    Collection,
    CollectionDocument,
    QrelsReader,
    QrelsWriter,
    Query,
    query_at,
    unique,
)
from .json_records import json_lines
from .packed import plain_or_gzipped
from .splits import choose

FORM = "BEIR (corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv)"
CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"


def is_beir(folder: Path) -> bool:
    """True when the folder has a corpus and queries under their names."""
    return all(plain_or_gzipped(folder / name) for name in (CORPUS, QUERIES))


def read_beir(folder: Path, split: str | None, read_qrels: QrelsReader) -> Collection:
    """The collection with the judgements of a split; the queries are those of all splits."""
    files = sorted((folder / QRELS).glob("*.tsv*"))
    splits = {path.name.removesuffix(".gz").removesuffix(".tsv"): path for path in files}
    qrels = read_qrels(splits[choose(folder, splits, split)])
    corpus, queries = (plain_or_gzipped(folder / name) or folder / name for name in (CORPUS, QUERIES))
    return Collection.of(folder, unique(_documents(corpus)), unique(_queries(queries)), qrels)


def write_beir(collection: Collection, folder: Path, split: str, write_qrels: QrelsWriter) -> None:
    """Write a collection as a BEIR folder; `ValueError` when one is there already."""
    if is_beir(folder):
        raise ValueError(f"{folder} holds a BEIR collection already: name another folder")
    (folder / QRELS).mkdir(parents=True, exist_ok=True)
    _write(folder / CORPUS, map(_document_line, collection.documents))
    _write(folder / QUERIES, map(_query_line, collection.queries))
    write_qrels(folder / QRELS / f"{split}.tsv", collection.qrels)


def _documents(path: Path) -> Iterator[tuple[str, CollectionDocument]]:
    for record in json_lines(path):
        name, title, text = record.name("_id"), record.text("title", default=""), record.text("text")
        yield record.place, CollectionDocument(name, title, text)


def _queries(path: Path) -> Iterator[tuple[str, Query]]:
    for record in json_lines(path):
        yield query_at(record.place, record.name("_id"), record.text("text"))


def _document_line(document: CollectionDocument) -> str:
    return _json({"_id": document.id, "title": document.title, "text": document.text})


def _query_line(query: Query) -> str:
    return _json({"_id": query.id, "text": query.text})


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
