"""MS MARCO passage ranking: `collection.tsv` and `queries.SPLIT.tsv` (id, tab, text), `qrels.SPLIT.tsv`.

The judgements have the columns of TREC. `queries.tsv` and `qrels.tsv` are taken where no split has files of
its own. ColBERT reads and writes collections in the same form.

Source: Bajaj et al., "MS MARCO: A Human Generated MAchine Reading COmprehension Dataset", 2016, and the
files of its passage ranking task.
"""

from __future__ import annotations

from pathlib import Path

from spanwise.errors import DataMalformed

from .collection import Collection, CollectionDocument, QrelsReader, query_at, unique
from .packed import plain_or_gzipped, tab_pairs
from .splits import choose

FORM = "MS MARCO (collection.tsv, queries[.SPLIT].tsv, qrels[.SPLIT].tsv)"
DOCUMENTS, QUERIES, QRELS, ENDING = "collection.tsv", "queries", "qrels", ".tsv"


def is_msmarco(folder: Path) -> bool:
    """True when the folder has the passages under their name."""
    return plain_or_gzipped(folder / DOCUMENTS) is not None


def read_msmarco(folder: Path, split: str | None, read_qrels: QrelsReader) -> Collection:
    """The collection with the queries and judgements of a split; passages have no titles."""
    splits = _splits(folder, QRELS)
    name = choose(folder, splits, split)
    tables = _splits(folder, QUERIES)
    queries = tables.get(name) or tables.get("")
    if queries is None:
        raise DataMalformed(f"{folder}: expected {QUERIES}.{name}{ENDING} or {QUERIES}{ENDING}")
    passages = plain_or_gzipped(folder / DOCUMENTS) or folder / DOCUMENTS
    documents = ((place, CollectionDocument(pid, "", text)) for place, pid, text in tab_pairs(passages))
    asked = (query_at(*row) for row in tab_pairs(queries))
    return Collection.of(folder, unique(documents), unique(asked), read_qrels(splits[name]))


def _splits(folder: Path, stem: str) -> dict[str, Path]:
    """The files `stem.SPLIT.tsv[.gz]` by split, `stem.tsv` under the empty string."""
    found = {}
    for path in sorted(folder.glob(f"{stem}*{ENDING}*")):
        name = path.name.removesuffix(".gz").removesuffix(ENDING).removeprefix(stem)
        if name == "" or name.startswith("."):
            found[name[1:]] = path
    return found
