"""Anserini's form: documents in JSON lines with `id` and `contents`, topics as tables, judgements as TREC's.

A folder holds documents in any `*.jsonl` files, and by the names that Anserini gives them
`topics.NAME.SPLIT.tsv` (id, tab, text) and `qrels.NAME.SPLIT.txt`; all may be gzipped. `contents` is taken
as it is, a title and its text in one.

Source: the files that Anserini (Yang, Fang and Lin, 2017) reads and distributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanwise.errors import DataMalformed

from .collection import Collection, CollectionDocument, QrelsReader, query_at, unique
from .json_records import json_lines
from .packed import tab_pairs
from .splits import choose

FORM = "Anserini (*.jsonl with id and contents, topics*.tsv, qrels*.txt)"


def is_anserini(folder: Path) -> bool:
    """True when the folder has JSON lines and tables of topics."""
    return bool(_documents_of(folder)) and any(folder.glob("topics*.tsv*"))


def read_anserini(folder: Path, split: str | None, read_qrels: QrelsReader) -> Collection:
    """The collection with the topics and judgements of a split."""
    splits, asked = _splits(folder, "qrels", ".txt"), _splits(folder, "topics", ".tsv")
    name = choose(folder, splits, split)
    if name not in asked:
        raise DataMalformed(f"{folder}: expected topics*.{name}.tsv, found only {', '.join(sorted(asked))}")
    documents = unique(found for path in _documents_of(folder) for found in _documents(path))
    queries = unique(query_at(*row) for row in tab_pairs(asked[name]))
    return Collection.of(folder, documents, queries, read_qrels(splits[name]))


def _documents_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.jsonl*") if path.name.endswith((".jsonl", ".jsonl.gz")))


def _splits(folder: Path, stem: str, ending: str) -> dict[str, Path]:
    """The files `stem.….SPLIT.ending` by the part before the ending."""
    found = {}
    for path in sorted(folder.glob(f"{stem}*{ending}*")):
        name = path.name.removesuffix(".gz")
        if name.endswith(ending):
            found[name.removesuffix(ending).rsplit(".", 1)[-1]] = path
    return found


def _documents(path: Path) -> Iterator[tuple[str, CollectionDocument]]:
    for record in json_lines(path):
        yield record.place, CollectionDocument(record.name("id"), "", record.text("contents"))
