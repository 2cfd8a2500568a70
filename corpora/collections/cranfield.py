"""The Cranfield collection: 1,400 abstracts on aerodynamics, 225 questions, complete judgements.

Files: `cran.all.1400`, `cran.qry`, `cranqrel`. Two things are not as they look. The judgements count the
questions from 1 in the order of the file, whatever numbers stand there. And the codes 1 to 4 are degrees of
relevance, 1 the best by the readme that comes with them; since others who use the collection take 4 for the
best, a document of any of these degrees is relevant here and nothing more (grade 1). The code -1, one for
each question, is a document of no interest (grade 0).

Source: Cleverdon, Mills and Keen, "Factors Determining the Performance of Indexing Systems", 1966; the
readme `cranqrel.readme` of the distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .collection import Collection, Query, query_at, unique
from .smart import bibliographic, judgements, repeated_note, smart_records

FORM = "Cranfield (cran.all.1400, cran.qry, cranqrel)"
DOCUMENTS, QUERIES, QRELS = "cran.all.1400", "cran.qry", "cranqrel"
CODES = {"1": 1, "2": 1, "3": 1, "4": 1, "-1": 0}


def is_cranfield(folder: Path) -> bool:
    """True when the folder has the three files."""
    return all((folder / name).is_file() for name in (DOCUMENTS, QUERIES, QRELS))


def read_cranfield(folder: Path) -> Collection:
    """The collection, its questions numbered by their order, its judgements binary."""
    records = list(smart_records(folder / DOCUMENTS))
    notes = [
        *repeated_note(records),
        "questions are numbered by their order, as in the judgements; codes 1-4 are relevant, -1 is not",
    ]
    qrels = judgements(folder / QRELS, 3, lambda values: CODES.get(values[2]))
    documents, queries = unique(map(bibliographic, records)), unique(_queries(folder / QUERIES))
    return Collection.of(folder, documents, queries, qrels, notes)


def _queries(path: Path) -> Iterator[tuple[str, Query]]:
    for place, record in enumerate(smart_records(path), start=1):
        yield query_at(record.place, str(place), record.fields.get(".W", ""))
