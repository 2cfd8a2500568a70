"""The catalog of an index: documents, passages, tombstones, unread files, settings and segment names.

A writer changes rows through sqlite-utils. Readers use the sqlite3 connection: importing sqlite-utils takes
half a second, and it doubles the time of a small query. Transactions are explicit: a reader fixes one commit
with `begin`, a writer collects all changes in one transaction. Keep a reader's transaction short, because
SQLite cannot shrink its log meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from spanwise.errors import IndexCorrupt
from spanwise.types import Document, Passage

from .files import corruption, named_errors
from .protocol import Ids
from .schema import (
    CommitState,
    Description,
    FileState,
    SegmentEntry,
    TableRow,
    UnreadFile,
    document_digest,
    document_from_row,
    open_catalog,
    passage_digest,
    passage_from_row,
    state_digest,
    unread_digest,
)
from .segment import is_digest

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database
    from sqlite_utils.db import Table

_T = TypeVar("_T")

_AMONG = "id IN (SELECT value FROM json_each(?))"
# SQLite reads a text as a whole, so each text is queried once for all its passages.
_TEXTS = """
SELECT documents.id, first, last, substr(text, first + 1, last - first)
FROM (
    SELECT document_id, min(start) AS first, max("end") AS last
    FROM json_each(?) CROSS JOIN passages ON passages.id = json_each.value GROUP BY document_id
) CROSS JOIN documents ON documents.id = document_id
"""
# The oldest and the newest passage of each content, live and deleted: these are most likely to have vectors.
_SAME_CONTENT = """
WITH contents AS (SELECT value FROM json_each(?)), found AS (
    SELECT (SELECT min(id) FROM passages WHERE content = value) AS id FROM contents
    UNION SELECT (SELECT max(id) FROM passages WHERE content = value) FROM contents
    UNION SELECT (SELECT min(passage_id) FROM tombstones WHERE content = value) FROM contents
    UNION SELECT (SELECT max(passage_id) FROM tombstones WHERE content = value) FROM contents
)
SELECT id, content FROM passages WHERE id IN found
UNION ALL SELECT passage_id, content FROM tombstones WHERE passage_id IN found
ORDER BY 1
"""


class Catalog:
    """One connection to the catalog; every failure of SQLite becomes a named error."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """The catalog at `path`, outside any transaction."""
        return cls(open_catalog(path), path)

    def close(self) -> None:
        """Close the connection, which ends the transaction. Idempotent."""
        self._connection.close()

    def begin(self) -> None:
        """Begin a transaction, which reads the last commit until it ends."""
        self.execute("BEGIN")
        self.read_digest()

    def end_transaction(self) -> None:
        """End the transaction, if any, so that SQLite can shrink its log. `begin` starts another."""
        if self._connection.in_transaction:
            self.execute("COMMIT")

    def execute(self, sql: str, *parameters: object) -> None:
        """Run one statement that returns no rows."""
        with named_errors(self.path):
            self._connection.execute(sql, parameters)

    def rows(self, sql: str, *parameters: object) -> list[TableRow]:
        """All rows of a query, as dictionaries."""
        with named_errors(self.path):
            cursor = self._connection.execute(sql, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def read_digest(self) -> str:
        """The digest of the last commit or merge. While it stays the same, all search results do."""
        return str(self._state_row()["digest"])

    def state(self) -> CommitState:
        """The state of this commit. Its digest is checked against settings, segments and deletions."""
        row = self._state_row()
        counts = (row["generation"], row["documents"], row["passages"])
        with self._typed():
            digest = self._digest(*counts)
        if digest != row["digest"]:
            raise self.corruption("settings, segments or deletions are not those of the last commit")
        return CommitState(*counts, digest)

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of this commit."""
        rows = self._typed_rows("SELECT key, value FROM settings ORDER BY key", key=str, value=str)
        return {row["key"]: row["value"] for row in rows}

    def segments(self) -> list[SegmentEntry]:
        """The segments of this commit, oldest first."""
        sql = "SELECT id, kind, model, rows FROM segments ORDER BY position"
        rows = self._typed_rows(sql, id=str, kind=str, model=str, rows=int)
        for row in rows:
            if not is_digest(row["id"]):
                raise self.corruption(f"{row['id']!r} is not the name of a segment")
        return [SegmentEntry(**row) for row in rows]

    def deleted(self) -> Ids:
        """Ids of deleted passages that segments still hold, ascending."""
        return self._ids("SELECT passage_id AS id FROM tombstones ORDER BY passage_id")

    def files(self) -> dict[str, FileState]:
        """The file state of each document, by document id, in the order of ids."""
        has_stamp = self.rows("SELECT 1 FROM pragma_table_info('documents') WHERE name = 'stamp'")
        sql = "SELECT id, size, mtime_ns, sha256, stamp FROM documents ORDER BY id"
        sql = sql if has_stamp else sql.replace("stamp", "'' AS stamp")
        rows = self._typed_rows(sql, id=str, size=int, mtime_ns=int, sha256=str, stamp=str)
        return {row.pop("id"): FileState(**row) for row in rows}

    def unread_files(self, kind: str = "%") -> dict[str, UnreadFile]:
        """The files of a kind, by default all, that could not be read, by document id in order."""
        unread = {}
        for row in self.rows("SELECT * FROM refusals WHERE kind LIKE ? ORDER BY document_id", kind):
            with self._typed():
                digest = unread_digest(row)
            if digest != row.pop("digest"):
                raise self.corruption(f"the reason for {row['document_id']!r} does not match its digest")
            document_id = row.pop("document_id")
            unread[document_id] = UnreadFile(**row)
        return unread

    def descriptions(self) -> list[Description]:
        """Each document without its text, in the order of ids; for display and for filters.

        The digests of the rows cover the texts, so they are not checked here. The passages that pass a filter
        are checked when they are read.
        """
        rows = self._tuples("SELECT id, media_type, title, mtime_ns, metadata FROM documents ORDER BY id")
        with self._typed():  # parsing all at once is several times faster than one by one
            metadata = json.loads(f"[{','.join(self._column(rows, 4, str))}]")
        if len(metadata) != len(rows) or not all(type(entry) is dict for entry in metadata):
            raise self.corruption("the metadata of a document is not a JSON object")
        columns = (self._column(rows, place, str) for place in range(3))
        return list(map(Description, *columns, self._column(rows, 3, int), metadata))

    def document_ids(self) -> list[str]:
        """The ids of all documents, in no particular order."""
        return self._column(self._tuples("SELECT id FROM documents"), 0, str)

    def passage_ids_of(self, document_ids: Sequence[str]) -> Ids:
        """The passages of these documents, ascending."""
        sql = "SELECT json_group_array(id) FROM passages WHERE document_"
        [(ids,)] = self._tuples(sql + _AMONG, json.dumps(list(document_ids)))
        return np.sort(np.array(json.loads(ids), np.int64))

    def document(self, document_id: str) -> Document:
        """A document. Raise `ValueError` for an id that is not in the index."""
        rows = self.rows("SELECT * FROM documents WHERE id = ?", document_id)
        if not rows:
            raise ValueError(f"no document {document_id!r} in the index {self.path.parent}")
        with self._typed():
            if document_digest(rows[0]) != rows[0]["digest"]:
                raise self.corruption(f"document {document_id!r} does not match its digest")
            return document_from_row(rows[0])

    def passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in this order. Raise `ValueError` for an id that is not in the index."""
        rows = self._by_id("SELECT * FROM passages WHERE " + _AMONG, passage_ids)
        with self._typed():
            texts = self._texts(rows)
            by_id = {number: self._passage(row, *texts[row["document_id"]]) for number, row in rows.items()}
        return [by_id[number] for number in passage_ids]

    def places(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of passages, in this order."""
        sql = 'SELECT id, document_id, start, "end" FROM passages WHERE '
        rows = self._by_id(sql + _AMONG, passage_ids, document_id=str, start=int, end=int)
        return [(row["document_id"], row["start"], row["end"]) for row in map(rows.__getitem__, passage_ids)]

    def passage_ids(self) -> Ids:
        """All live passages, ordered by (document id, start, end)."""
        return self._ids('SELECT id FROM passages ORDER BY document_id, start, "end"')

    def corruption(self, reason: str) -> IndexCorrupt:
        """The error for a catalog that differs from what was written."""
        return corruption(self.path, reason)

    def _digest(self, generation: int, n_documents: int, n_passages: int) -> str:
        """The digest of this state, with these numbers."""
        deleted = self.deleted().astype("<i8").tobytes()
        return state_digest(generation, n_documents, n_passages, self.settings, self.segments(), deleted)

    def _state_row(self) -> TableRow:
        rows = self.rows("SELECT generation, documents, passages, digest FROM state")
        if len(rows) != 1:
            raise self.corruption("its state is missing")
        return rows[0]

    def _tuples(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """All rows of a query as tuples, for queries of very many rows."""
        with named_errors(self.path):
            rows: list[tuple[Any, ...]] = self._connection.execute(sql, parameters).fetchall()
            return rows

    def _column(self, rows: Sequence[tuple[Any, ...]], place: int, kind: type[_T]) -> list[_T]:
        """The values at one place of the rows, checked to be of this type."""
        values = [row[place] for row in rows]
        wrong = set(map(type, values)) - {kind}
        if wrong:
            raise self.corruption(f"a column holds {min(map(str, wrong))} instead of {kind}")
        return values

    def _ids(self, sql: str, *parameters: object) -> Ids:
        """The column `id` of a query."""
        rows = self._typed_rows(sql, *parameters, id=int)
        return np.array([row["id"] for row in rows], np.int64)

    def _typed_rows(self, sql: str, /, *parameters: object, **types: type) -> list[TableRow]:
        """The rows of a query, with the types of these columns checked: damage may change a type."""
        rows = self.rows(sql, *parameters)
        for row in rows:
            for name, kind in types.items():
                if type(row[name]) is not kind:
                    raise self.corruption(f"{name} is {row[name]!r}")
        return rows

    @contextmanager
    def _typed(self) -> Iterator[None]:
        """Inside the context, a value of a wrong type in a damaged row raises `IndexCorrupt`."""
        try:
            yield
        except (TypeError, ValueError, OverflowError) as error:
            raise self.corruption(f"a value does not fit its column: {error}") from error

    def _by_id(self, sql: str, passage_ids: Sequence[int], **types: type) -> dict[int, TableRow]:
        """Rows of passages by their id, from a query that takes the ids as JSON."""
        ids = json.dumps([int(number) for number in passage_ids])
        rows = {row["id"]: row for row in self._typed_rows(sql, ids, **types)}
        for number in passage_ids:
            if number not in rows:
                raise ValueError(f"no passage {number} in the index {self.path.parent}")
        return rows

    def _texts(self, rows: Mapping[int, TableRow]) -> dict[str, tuple[int, str]]:
        """By document, the start of its first passage in `rows`, and the text from there to its last one."""
        texts = {}
        for document_id, first, last, text in self._tuples(_TEXTS, json.dumps(list(rows))):
            if len(text) != last - first:  # SQLite's substr stops at a NUL character
                [(whole,)] = self._tuples("SELECT text FROM documents WHERE id = ?", document_id)
                text = whole[first:last]
            texts[document_id] = first, text
        for row in rows.values():
            if row["document_id"] not in texts:
                raise self.corruption(f"document {row['document_id']!r} is missing")
        return texts

    def _passage(self, row: TableRow, first: int, text: str) -> Passage:
        """The passage of a row; `text` is the text of its document from `first` on."""
        quote = text[row["start"] - first : row["end"] - first]
        if passage_digest(row, quote) != row["digest"]:
            raise self.corruption(f"passage {row['id']} of {row['document_id']!r} does not match its digest")
        return passage_from_row(row, quote)


class CatalogWriter(Catalog):
    """The catalog with the changes of a writer, who holds the write lock.

    Each method begins the transaction if none is open. Readers see nothing before `commit`.
    """

    @property
    def has_changes(self) -> bool:
        """True between the first change and the commit or rollback."""
        return bool(self._connection.in_transaction)

    def begin_changes(self) -> None:
        """Begin the transaction unless it is open, and check the state of the catalog."""
        if not self.has_changes:
            self.execute("BEGIN IMMEDIATE")
            self.state()

    def add_document(self, document: TableRow, passages: Sequence[TableRow]) -> list[int]:
        """Store a new document and return the ids of its passages, which are never reused."""
        first = self._last_passage_id() + 1
        ids = list(range(first, first + len(passages)))
        with self._changes():
            self._table("documents").insert(document)
            numbered = ({"id": number, **row} for number, row in zip(ids, passages, strict=True))
            self._table("passages").insert_all(numbered)
        return ids

    def remove_document(self, document_id: str) -> bool:
        """Delete a document and tombstone its passages; False without such a document."""
        sql = "INSERT INTO tombstones SELECT id, content FROM passages WHERE document_id = ?"
        with self._changes():
            self._connection.execute(sql, (document_id,))
            self._table("passages").delete_where("document_id = ?", [document_id])
        return self._removed("documents", "id", document_id)

    def passages_with_content(self, contents: Sequence[str]) -> dict[str, list[int]]:
        """Up to four passages per content digest, live ones and deleted ones that segments still hold."""
        passages: dict[str, list[int]] = {}
        for row in self.rows(_SAME_CONTENT, json.dumps(sorted(set(contents)))):
            passages.setdefault(row["content"], []).append(row["id"])
        return passages

    def put_unread_file(self, row: TableRow) -> None:
        """Store or replace the row of an unread file."""
        with self._changes():
            self._table("refusals").insert(row, replace=True)

    def remove_unread_file(self, document_id: str) -> bool:
        """Delete the row of an unread file; False without such a row."""
        return self._removed("refusals", "document_id", document_id)

    def touch(self, document_id: str, state: FileState) -> bool:
        """Store the new time of an unchanged file; False when no document has these bytes."""
        sql = "UPDATE documents SET size = ?, mtime_ns = ?, stamp = ? WHERE id = ? AND sha256 = ?"
        with self._changes():
            values = (state.size, state.mtime_ns, state.stamp, document_id, state.sha256)
            return bool(self._connection.execute(sql, values).rowcount)

    def set(self, key: str, value: str) -> None:
        """Add or replace a setting."""
        with self._changes():
            self._table("settings").insert({"key": key, "value": value}, replace=True)

    def add_segment(self, entry: SegmentEntry) -> None:
        """List a segment whose files are on the disk."""
        with self._changes():
            self._table("segments").insert(asdict(entry))

    def drop_segments(self, segment_ids: Sequence[str]) -> None:
        """Remove these segments from the list."""
        with self._changes():
            self._table("segments").delete_where(_AMONG, [json.dumps(list(segment_ids))])

    def forget_deleted(self, passage_ids: Ids) -> None:
        """Delete the tombstones of passages that no segment holds any more."""
        with self._changes():
            self._table("tombstones").delete_where("passage_" + _AMONG, [json.dumps(passage_ids.tolist())])

    def live_among(self, passage_ids: Sequence[int]) -> Ids:
        """The ids of live passages among these, ascending. Raise `ValueError` for an id never assigned."""
        last = self._last_passage_id()
        for number in passage_ids:
            if not 1 <= number <= last:
                raise ValueError(f"no passage {number} in the index {self.path.parent}")
        ids = json.dumps(list(map(int, passage_ids)))
        return self._ids(f"SELECT id FROM passages WHERE {_AMONG} ORDER BY id", ids)

    def generation(self) -> int:
        """The number of the last commit; 0 for a new index."""
        return int(self._state_row()["generation"])

    def commit(self) -> int:
        """Make every change visible and durable at once; return the number of the new commit."""
        with named_errors(self.path):
            n_documents = self._table("documents").count
            n_passages = self._table("passages").count
        generation = self.generation() + 1
        self._commit(generation, n_documents, n_passages)
        return generation

    def commit_merge(self) -> None:
        """Make merged segments visible. They hold the same rows, so the number of the commit stays."""
        row = self._state_row()
        self._commit(row["generation"], row["documents"], row["passages"])

    def settle(self) -> None:
        """Write another commit with the same content, so that a failed one cannot return from the log."""
        self.execute("BEGIN IMMEDIATE")
        self.execute("UPDATE state SET generation = generation + 1")  # SQLite writes only real changes
        self.execute("UPDATE state SET generation = generation - 1")
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Discard every change since the last commit."""
        if self.has_changes:
            self.execute("ROLLBACK")

    def _commit(self, generation: int, n_documents: int, n_passages: int) -> None:
        counts = (generation, n_documents, n_passages)
        digest = self._digest(*counts)
        self.execute(
            "UPDATE state SET generation = ?, documents = ?, passages = ?, digest = ?", *counts, digest
        )
        self.execute("COMMIT")

    def _last_passage_id(self) -> int:
        rows = self.rows("SELECT seq FROM sqlite_sequence WHERE name = 'passages'")
        return int(rows[0]["seq"]) if rows else 0

    def _removed(self, table: str, column: str, value: str) -> bool:
        """Delete the row with this value; False without such a row."""
        with self._changes():
            sql = f"DELETE FROM {table} WHERE {column} = ?"
            return bool(self._connection.execute(sql, (value,)).rowcount)

    @cached_property
    def _database(self) -> Database:
        from sqlite_utils import Database

        return Database(self._connection, execute_plugins=False)

    def _table(self, name: str) -> Table:
        return self._database.table(name)

    @contextmanager
    def _changes(self) -> Iterator[None]:
        """Inside the context the transaction is open."""
        self.begin_changes()
        with named_errors(self.path):
            yield
