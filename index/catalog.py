"""Reading the catalog: documents, passages and the state of one generation.

Everything is read in one transaction from `begin` to `close`, so that all answers belong to one generation
while a writer goes on. Hold it for a question, not for an hour: until it ends, SQLite cannot reuse its log.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexCorrupt
from spanwise.types import Document, Passage

from .faults import named_faults
from .manifest import is_digest
from .rows import (
    Description,
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

if TYPE_CHECKING:
    from sqlite_utils import Database


class Catalog:
    """One connection to `catalog.sqlite`; every failure of SQLite comes out as a named error."""

    def __init__(self, database: Database, path: Path) -> None:
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
        if self._database.conn.in_transaction:
            self.execute("COMMIT")

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run one statement that returns no rows; the id of the last row it inserted."""
        with named_faults(self.path):
            return self._database.execute(sql, parameters).lastrowid or 0

    def rows(self, sql: str, *parameters: object) -> list[Row]:
        """All rows of a query, as dictionaries."""
        with named_faults(self.path):
            return list(self._database.query(sql, parameters))

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

    def format(self) -> int:
        """The format that this generation is written in."""
        return int(self.rows("PRAGMA user_version")[0]["user_version"])

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
        """The refused files by document id in order; none in an index of format 1."""
        if self.format() < 2:
            return {}
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
        rows = self._passage_rows(passage_ids)
        by_document = sorted(rows.values(), key=lambda row: str(row["document_id"]))
        found: dict[int, Passage] = {}
        for document_id, group in groupby(by_document, key=lambda row: str(row["document_id"])):
            text = self._text(document_id)
            found |= {row["id"]: self._passage(row, text) for row in group}
        return [found[number] for number in passage_ids]

    def places(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of passages, in the order asked."""
        rows = self._passage_rows(passage_ids)
        self._checked(rows.values(), document_id=str, start=int, end=int)
        wanted = (rows[number] for number in passage_ids)
        return [(row["document_id"], row["start"], row["end"]) for row in wanted]

    def passage_ids(self) -> NDArray[np.int64]:
        """All live passages, ordered by (document id, start, end)."""
        rows = self.rows('SELECT id FROM passages ORDER BY document_id, start, "end"')
        return np.array([row["id"] for row in self._checked(rows, id=int)], np.int64)

    def damaged(self, how: str) -> IndexCorrupt:
        """The error for a catalog that is not as it was written."""
        return IndexCorrupt(
            f"{self.path} is damaged ({how}): delete the index and run `spanwise index FOLDER` again"
        )

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

    def _passage_rows(self, passage_ids: Sequence[int]) -> dict[int, Row]:
        wanted = json.dumps([int(number) for number in passage_ids])
        sql = "SELECT * FROM passages WHERE id IN (SELECT value FROM json_each(?))"
        rows = {row["id"]: row for row in self.rows(sql, wanted)}
        missing = [number for number in passage_ids if number not in rows]
        if missing:
            raise ValueError(f"no passage {missing[0]} in the index {self.path.parent}")
        return rows

    def _text(self, document_id: str) -> str:
        rows = self.rows("SELECT text FROM documents WHERE id = ?", document_id)
        if not rows:
            raise self.damaged(f"document {document_id!r} is missing")
        return str(rows[0]["text"])

    def _passage(self, row: Row, text: str) -> Passage:
        with self._typed():
            quoted = text[row["start"] : row["end"]]
            found = passage_digest(row, quoted)
            if found != row["digest"]:
                raise self.damaged(f"passage {row['id']} of {row['document_id']!r} does not match its digest")
            return passage_of(row, quoted)
