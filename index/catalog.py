"""Reading the catalog: documents, passages and the state of one generation.

Everything is read in one transaction from `begin` to `close`, so that all answers belong to one generation
while a writer goes on. Hold it for a question, not for an hour: until it ends, SQLite cannot reuse its log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexCorrupt
from spanwise.types import Document, Passage

from .faults import named_faults
from .manifest import is_digest
from .rows import (
    Description,
    Facts,
    FileState,
    Refusal,
    Row,
    document_digest,
    document_of,
    passage_digest,
    passage_of,
    refusal_digest,
    refusal_of,
)
from .schema import open_catalog
from .state import SegmentEntry, State, seal

_T = TypeVar("_T")

_PASSAGES = "SELECT * FROM passages WHERE id IN (SELECT value FROM json_each(?))"
_PLACES = 'SELECT id, document_id, start, "end" FROM passages WHERE id IN (SELECT value FROM json_each(?))'
# SQLite reads a text as a whole, so it is asked for each text once, however many of its passages are wanted.
_TEXTS = """
SELECT documents.id, first, last, substr(text, first + 1, last - first)
FROM (
    SELECT document_id, min(start) AS first, max("end") AS last
    FROM json_each(?) CROSS JOIN passages ON passages.id = json_each.value GROUP BY document_id
) CROSS JOIN documents ON documents.id = document_id
"""


class Catalog:
    """One connection to `catalog.sqlite`; every failure of SQLite comes out as a named error."""

    def __init__(self, database: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._database = database

    @classmethod
    def open(cls, path: Path) -> Self:
        """The catalog at `path`, outside of any transaction."""
        return cls(open_catalog(path), path)

    def close(self) -> None:
        """End the transaction and the connection; closing twice is fine."""
        self._database.close()

    def begin(self) -> None:
        """Fix the generation that is read from now on."""
        self.execute("BEGIN")
        self.generation()

    def rest(self) -> None:
        """End the transaction, if there is one, so that SQLite can reuse its log; `begin` starts another."""
        if self._database.in_transaction:
            self.execute("COMMIT")

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run one statement that returns no rows; the id of the last row it inserted."""
        with named_faults(self.path):
            return self._database.execute(sql, parameters).lastrowid or 0

    def rows(self, sql: str, *parameters: object) -> list[Row]:
        """All rows of a query, as dictionaries."""
        with named_faults(self.path):
            found = self._database.execute(sql, parameters)
            columns = [column[0] for column in found.description or ()]
            return [dict(zip(columns, values, strict=True)) for values in found]

    def generation(self) -> int:
        """The number of the last commit; 0 for a new index."""
        rows = self.rows("SELECT generation FROM state")
        if not rows:
            raise self.damaged("its state is missing")
        with self._typed():
            return int(rows[0]["generation"])

    def seal(self) -> str:
        """The seal of the last commit or merge: as long as it stays, so do the segments."""
        rows = self.rows("SELECT seal FROM state")
        return str(rows[0]["seal"]) if rows else ""

    def state(self) -> State:
        """The state of this generation, after its seal has been compared with what it seals."""
        rows = self.rows("SELECT generation, documents, passages, seal FROM state")
        if len(rows) != 1:
            raise self.damaged("its state is missing")
        state = State(*rows[0].values())
        counts = (state.generation, state.n_documents, state.n_passages)
        with self._typed():
            found = seal(*counts, self.settings(), self.segments(), self.deleted())
        if found != state.seal:
            raise self.damaged("settings, segments or deletions are not those of the last commit")
        return state

    def settings(self) -> dict[str, str]:
        """What was set when the index was made and since."""
        rows = self.rows("SELECT key, value FROM settings ORDER BY key")
        return {row["key"]: row["value"] for row in self._checked(rows, key=str, value=str)}

    def segments(self) -> list[SegmentEntry]:
        """The segments of this generation, oldest first."""
        rows = self.rows("SELECT id, kind, model, rows FROM segments ORDER BY position")
        for row in self._checked(rows, id=str, kind=str, model=str, rows=int):
            if not is_digest(row["id"]):
                raise self.damaged(f"{row['id']!r} is not the name of a segment")
        return [SegmentEntry(**row) for row in rows]

    def deleted(self) -> NDArray[np.int64]:
        """Ids of passages that segments still hold although they are gone, ascending."""
        rows = self.rows("SELECT passage_id FROM tombstones ORDER BY passage_id")
        return np.array([row["passage_id"] for row in self._checked(rows, passage_id=int)], np.int64)

    def files(self) -> dict[str, FileState]:
        """The state of the file behind each document, by document id in order."""
        rows = self.rows("SELECT id, size, mtime_ns, sha256 FROM documents ORDER BY id")
        self._checked(rows, id=str, size=int, mtime_ns=int, sha256=str)
        return {row["id"]: FileState(row["size"], row["mtime_ns"], row["sha256"]) for row in rows}

    def refusals(self) -> dict[str, Refusal]:
        """The refused files by document id in order."""
        rows = self.rows("SELECT * FROM refusals ORDER BY document_id")
        for row in rows:
            with self._typed():
                found = refusal_digest(row)
            if found != row["digest"]:
                raise self.damaged(f"the refusal of {row['document_id']!r} does not match its digest")
        return {row["document_id"]: refusal_of(row) for row in rows}

    def descriptions(self) -> list[Description]:
        """What is known about each document, by id in order. Not compared with the digests of the rows, which
        cover the texts too: made to be shown, not to answer from.
        """
        rows = self.rows("SELECT id, media_type, title, metadata FROM documents ORDER BY id")
        self._checked(rows, id=str, media_type=str, title=str)
        with self._typed():
            return [Description(**row | {"metadata": json.loads(row["metadata"])}) for row in rows]

    def document_ids(self) -> list[str]:
        """The documents, in no certain order."""
        rows = self._tuples("SELECT id FROM documents")
        return list(self._column(rows, 0, str))

    def facts(self) -> Facts:
        """What filters look at. Not compared with the digests of the rows, like `descriptions`: what a filter
        lets through still proves itself when it is read.
        """
        rows = self._tuples("SELECT id, media_type, mtime_ns, metadata FROM documents")
        with self._typed():  # one parse of all is several times faster than one of each
            metadata = json.loads(f"[{','.join(self._column(rows, 3, str))}]")
        if len(metadata) != len(rows) or not all(type(one) is dict for one in metadata):
            raise self.damaged("the metadata of a document is not what its column holds")
        ids, media_types = self._column(rows, 0, str), self._column(rows, 1, str)
        return Facts(ids, media_types, self._column(rows, 2, int), metadata)

    def passage_ids_of(self, document_ids: Sequence[str]) -> NDArray[np.int64]:
        """The passages of these documents, ascending."""
        sql = (
            "SELECT json_group_array(id) FROM passages WHERE document_id IN (SELECT value FROM json_each(?))"
        )
        [(found,)] = self._tuples(sql, json.dumps(list(document_ids)))
        return np.sort(np.array(json.loads(found), np.int64))

    def document(self, document_id: str) -> Document:
        """A document; `ValueError` for an id that is not in the index."""
        rows = self.rows("SELECT * FROM documents WHERE id = ?", document_id)
        if not rows:
            raise ValueError(f"no document {document_id!r} in the index {self.path.parent}")
        with self._typed():
            found = document_digest(rows[0])
            if found != rows[0]["digest"]:
                raise self.damaged(f"document {document_id!r} does not match its digest")
            return document_of(rows[0])

    def passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in the order asked; `ValueError` for an id that is not in the index."""
        rows = self._by_id(_PASSAGES, passage_ids)
        with self._typed():
            texts = self._texts(rows)
            found = {number: self._passage(row, *texts[row["document_id"]]) for number, row in rows.items()}
        return [found[number] for number in passage_ids]

    def places(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of passages, in the order asked."""
        rows = self._by_id(_PLACES, passage_ids)
        self._checked(rows.values(), document_id=str, start=int, end=int)
        return [(row["document_id"], row["start"], row["end"]) for row in map(rows.__getitem__, passage_ids)]

    def passage_ids(self) -> NDArray[np.int64]:
        """All live passages, ordered by (document id, start, end)."""
        rows = self.rows('SELECT id FROM passages ORDER BY document_id, start, "end"')
        return np.array([row["id"] for row in self._checked(rows, id=int)], np.int64)

    def damaged(self, how: str) -> IndexCorrupt:
        """The error for a catalog that is not as it was written."""
        return IndexCorrupt(
            f"{self.path} is damaged ({how}): delete the index and run `spanwise index FOLDER` again"
        )

    def _tuples(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """All rows of a query as they come, for queries of very many rows."""
        with named_faults(self.path):
            return self._database.execute(sql, parameters).fetchall()

    def _column(self, rows: Sequence[tuple[Any, ...]], at: int, kind: type[_T]) -> list[_T]:
        """One column of the rows, after its values have proved to be of this type."""
        values = [row[at] for row in rows]
        if wrong := set(map(type, values)) - {kind}:
            raise self.damaged(f"a column holds {min(map(str, wrong))} instead of {kind}")
        return values

    def _checked(self, rows: Collection[Row], /, **types: type) -> Collection[Row]:
        """The rows, after these columns have proved to hold what they should: damage may change a type."""
        for row in rows:
            for name, kind in types.items():
                if type(row[name]) is not kind:
                    raise self.damaged(f"{name} is {row[name]!r}")
        return rows

    @contextmanager
    def _typed(self) -> Iterator[None]:
        """A damaged row may hold values of another type than its column."""
        try:
            yield
        except (TypeError, ValueError, OverflowError) as error:
            raise self.damaged(f"a value is not what its column holds: {error}") from error

    def _by_id(self, sql: str, passage_ids: Sequence[int]) -> dict[int, Row]:
        """Rows of passages by their id, from a query that takes the ids as JSON."""
        wanted = json.dumps([int(number) for number in passage_ids])
        rows = {row["id"]: row for row in self.rows(sql, wanted)}
        missing = [number for number in passage_ids if number not in rows]
        if missing:
            raise ValueError(f"no passage {missing[0]} in the index {self.path.parent}")
        return rows

    def _texts(self, rows: Mapping[int, Row]) -> dict[str, tuple[int, str]]:
        """Of each document where the first of these passages starts, and the text from there to the last."""
        texts = {}
        for document_id, first, last, text in self._tuples(_TEXTS, json.dumps(list(rows))):
            if len(text) != last - first:  # for SQLite a text ends at its first NUL, so this one is cut here
                [(whole,)] = self._tuples("SELECT text FROM documents WHERE id = ?", document_id)
                text = whole[first:last]
            texts[document_id] = first, text
        for row in rows.values():
            if row["document_id"] not in texts:
                raise self.damaged(f"document {row['document_id']!r} is missing")
        return texts

    def _passage(self, row: Row, first: int, text: str) -> Passage:
        """The passage of a row; `text` is that of its document from `first` on."""
        quoted = text[row["start"] - first : row["end"] - first]
        if passage_digest(row, quoted) != row["digest"]:
            raise self.damaged(f"passage {row['id']} of {row['document_id']!r} does not match its digest")
        return passage_of(row, quoted)
