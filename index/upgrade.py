"""From older formats to that of today, within the first transaction of a writer: a kill in between leaves the
old one.

Format 2 adds labels, the digest of what is searched for each passage, and the refused files. Every row proves
itself by its old digest before it gets a new one, so that damage is never sealed. Format 3 adds segments of
tokens and their codebooks: nothing is written anew, but a program that knows no tokens would merge them as
vectors, and has to refuse.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .rows import Row, content_digest, document_digest, passage_digest

if TYPE_CHECKING:
    from .catalog_writer import CatalogWriter

_COLUMNS = (
    "ALTER TABLE documents ADD COLUMN labels TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE passages ADD COLUMN label TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE passages ADD COLUMN content TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE tombstones ADD COLUMN content TEXT",
    "CREATE TABLE refusals (document_id TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL,"
    " mtime_ns INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT NOT NULL, reader TEXT NOT NULL,"
    " digest TEXT NOT NULL) STRICT",
)
_INDEXES = (
    "CREATE INDEX passages_by_content ON passages (content)",
    "CREATE INDEX tombstones_by_content ON tombstones (content)",
)


def upgrade(catalog: CatalogWriter) -> None:
    """Make a catalog of an older format one of today's, as a part of the transaction that is open."""
    if catalog.format() < 2:
        _add_labels_and_contents(catalog)
    catalog.execute("PRAGMA user_version = 3")


def _add_labels_and_contents(catalog: CatalogWriter) -> None:
    for statement in _COLUMNS:
        catalog.execute(statement)
    for document_id in catalog.files():
        _upgrade_document(catalog, document_id)
    for statement in _INDEXES:
        catalog.execute(statement)


def _upgrade_document(catalog: CatalogWriter, document_id: str) -> None:
    (row,) = catalog.rows("SELECT * FROM documents WHERE id = ?", document_id)
    if document_digest(_without(row, "labels")) != row["digest"]:
        raise catalog.damaged(f"document {document_id!r} does not match its digest")
    catalog.execute("UPDATE documents SET digest = ? WHERE id = ?", (document_digest(row), document_id))
    for passage in catalog.rows("SELECT * FROM passages WHERE document_id = ?", document_id):
        _upgrade_passage(catalog, passage, row["text"][passage["start"] : passage["end"]])


def _upgrade_passage(catalog: CatalogWriter, row: Row, text: str) -> None:
    if passage_digest(_without(row, "label", "content"), text) != row["digest"]:
        raise catalog.damaged(f"passage {row['id']} of {row['document_id']!r} does not match its digest")
    content = content_digest(json.loads(row["heading"]), text)
    digest = passage_digest(row | {"content": content}, text)
    sql = "UPDATE passages SET content = ?, digest = ? WHERE id = ?"
    catalog.execute(sql, (content, digest, row["id"]))


def _without(row: Row, *columns: str) -> Row:
    return {name: value for name, value in row.items() if name not in columns}
