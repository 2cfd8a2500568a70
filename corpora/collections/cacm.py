"""The CACM collection: 3,204 titles of the Communications of the ACM, half of them with an abstract.

Files: `cacm.all`, `query.text`, `qrels.text`; 52 of the 64 queries are judged, every judgement is a relevant
document: `query document 0 0`.

Source: Fox, "Characterization of Two New Experimental Collections in Computer and Information Science",
1983; the README of the distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .collection import Collection, Query, query_at, unique
from .smart import bibliographic, judgements, repeated_note, smart_records

FORM = "CACM (cacm.all, query.text, qrels.text)"
DOCUMENTS, QUERIES, QRELS = "cacm.all", "query.text", "qrels.text"


def is_cacm(folder: Path) -> bool:
    """True when the folder has the three files."""
    return all((folder / name).is_file() for name in (DOCUMENTS, QUERIES, QRELS))


def read_cacm(folder: Path) -> Collection:
    """The collection; the queries keep their numbers."""
    records = list(smart_records(folder / DOCUMENTS))
    documents, queries = unique(map(bibliographic, records)), unique(_queries(folder / QUERIES))
    qrels = judgements(folder / QRELS, 4, lambda values: 1)
    return Collection.of(folder, documents, queries, qrels, repeated_note(records))


def _queries(path: Path) -> Iterator[tuple[str, Query]]:
    for record in smart_records(path):
        yield query_at(record.place, str(record.number), record.fields.get(".W", ""))
