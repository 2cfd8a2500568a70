"""Verification of every byte of an index that results depend on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np

from spanwise.errors import SpanwiseError

from .ann import code_problems
from .catalog import Catalog
from .maxsim.tokens import token_problems
from .protocol import Ids
from .schema import SegmentEntry
from .segment import POSTINGS, Segment, open_segment


def problems(catalog_path: Path, segments: Path, cache: Path) -> list[str]:
    """One line for each damaged, missing or contradictory part; empty for an intact index."""
    try:
        catalog = Catalog.open(catalog_path)
    except (SpanwiseError, OSError) as error:
        return [str(error)]
    try:
        return [*_catalog_problems(catalog), *_segment_problems(catalog, segments), *code_problems(cache)]
    finally:
        catalog.close()


def _catalog_problems(catalog: Catalog) -> Iterator[str]:
    """SQLite's own checks, the digest of the commit, the counts, and the digest of every row."""
    try:
        catalog.begin()
        for row in catalog.rows("PRAGMA integrity_check"):
            if row["integrity_check"] != "ok":
                yield f"{catalog.path}: {row['integrity_check']}"
        state = catalog.state()
        documents = list(catalog.files())
        n_passages = len(catalog.passage_ids())
        if (len(documents), n_passages) != (state.n_documents, state.n_passages):
            yield (
                f"{catalog.path} holds {len(documents)} documents and {n_passages} passages, "
                f"the last commit has {state.n_documents} and {state.n_passages}"
            )
        yield from _row_problems(catalog, documents)
        catalog.unread_files()
    except SpanwiseError as error:
        yield str(error)


def _row_problems(catalog: Catalog, documents: list[str]) -> Iterator[str]:
    for document_id in documents:
        try:
            catalog.document(document_id)
        except SpanwiseError as error:
            yield str(error)
    rows = catalog.rows("SELECT id, document_id FROM passages ORDER BY document_id, start")
    for _, group in groupby(rows, key=lambda row: str(row["document_id"])):
        try:
            catalog.passages([row["id"] for row in group])
        except SpanwiseError as error:
            yield str(error)


def _segment_problems(catalog: Catalog, folder: Path) -> Iterator[str]:
    """The digest of every file, and whether the segments hold the rows that the catalog lists."""
    try:
        live = np.sort(catalog.passage_ids())
        deleted = catalog.deleted()
        entries = catalog.segments()
    except SpanwiseError as error:
        yield str(error)
        return
    held: dict[tuple[str, str], list[Ids]] = {(POSTINGS, ""): []}
    intact: list[Segment] = []
    for entry in entries:
        try:
            segment = open_segment(folder / entry.id)
            segment.check_file()
            actual = SegmentEntry(entry.id, segment.kind, segment.model, len(segment.passage_ids))
            if actual != entry:
                raise SpanwiseError(f"{segment.path} is {actual}, the catalog lists {entry}")
        except (SpanwiseError, OSError) as error:
            yield str(error)
        else:
            held.setdefault((entry.kind, entry.model), []).append(segment.passage_ids)
            intact.append(segment)
    yield from token_problems(folder, intact)
    for (kind, model), parts in held.items():
        ids = np.sort(np.concatenate([deleted[:0], *parts]))
        ids = ids[np.isin(ids, deleted, invert=True)]
        expected = live if kind == POSTINGS else live[np.isin(live, ids)]
        if not np.array_equal(ids, expected):
            yield f"{folder}: the {kind} {model} are not those of the live passages, each once"
