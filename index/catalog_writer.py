"""Writing the catalog: one transaction from the first change to the commit.

The caller holds the write lock. Nothing a reader can see changes before `commit`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from .catalog import Catalog
from .rows import FileState, Row
from .state import SegmentEntry, seal

# The values come in the order in which `rows` makes them.
_DOCUMENT = """
INSERT INTO documents (
    id, size, mtime_ns, sha256, media_type, title, page_starts, headings, metadata, text, digest
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_PASSAGE = """
INSERT INTO passages (document_id, start, "end", page, line, heading, digest) VALUES (?, ?, ?, ?, ?, ?, ?)
"""


class CatalogWriter(Catalog):
    """The catalog with the statements that change it; each method begins the transaction if none is open."""

    @property
    def has_changes(self) -> bool:
        """True between the first change and the commit or rollback."""
        return bool(self._database.conn.in_transaction)

    def add_document(self, document: Row, passages: Iterable[Row]) -> list[int]:
        """Store a document that is not there yet; the new ids of its passages, which are never used again."""
        self.begin_changes()
        self.execute(_DOCUMENT, tuple(document.values()))
        return [self.execute(_PASSAGE, tuple(passage.values())) for passage in passages]

    def remove_document(self, document_id: str) -> bool:
        """Delete a document and bury its passages; False when there is none."""
        self.begin_changes()
        self.execute("INSERT INTO tombstones SELECT id FROM passages WHERE document_id = ?", (document_id,))
        self.execute("DELETE FROM passages WHERE document_id = ?", (document_id,))
        return bool(self.rows("DELETE FROM documents WHERE id = ? RETURNING id", document_id))

    def touch(self, document_id: str, state: FileState) -> bool:
        """Note that a file has a new time but the same bytes; False when no document has them."""
        self.begin_changes()
        sql = "UPDATE documents SET size = ?, mtime_ns = ? WHERE id = ? AND sha256 = ? RETURNING id"
        return bool(self.rows(sql, state.size, state.mtime_ns, document_id, state.sha256))

    def set(self, key: str, value: str) -> None:
        """Add or replace a setting."""
        self.begin_changes()
        self.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, value))

    def add_segment(self, entry: SegmentEntry) -> None:
        """Name a segment whose files are on the disk."""
        self.begin_changes()
        values = (entry.id, entry.kind, entry.model, entry.rows)
        self.execute("INSERT INTO segments (id, kind, model, rows) VALUES (?, ?, ?, ?)", values)

    def drop_segments(self, segment_ids: Sequence[str]) -> None:
        """No longer name these segments."""
        self.begin_changes()
        self.execute(
            "DELETE FROM segments WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(segment_ids)),),
        )

    def forget_deleted(self, passage_ids: NDArray[np.int64]) -> None:
        """Drop the tombstones of passages that no segment holds any more."""
        self.begin_changes()
        self.execute(
            "DELETE FROM tombstones WHERE passage_id IN (SELECT value FROM json_each(?))",
            (json.dumps(passage_ids.tolist()),),
        )

    def live_among(self, passage_ids: Sequence[int]) -> NDArray[np.int64]:
        """Those of the ids that name a passage, ascending; `ValueError` for an id that was never given."""
        (highest,) = self.rows(
            "SELECT coalesce(max(seq), 0) AS id FROM sqlite_sequence WHERE name = 'passages'"
        )
        unknown = [number for number in passage_ids if not 1 <= number <= highest["id"]]
        if unknown:
            raise ValueError(f"no passage {unknown[0]} in the index {self.path.parent}")
        wanted = json.dumps(list(map(int, passage_ids)))
        sql = "SELECT id FROM passages WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
        return np.array([row["id"] for row in self.rows(sql, wanted)], np.int64)

    def commit(self) -> int:
        """Make every change visible and durable at once; the number of the new generation."""
        (counts,) = self.rows(
            "SELECT (SELECT count(*) FROM documents) AS documents,"
            " (SELECT count(*) FROM passages) AS passages"
        )
        state = (self.generation() + 1, counts["documents"], counts["passages"])
        sealed = seal(*state, self.settings(), self.segments(), self.deleted())
        self.execute(
            "UPDATE state SET generation = ?, documents = ?, passages = ?, seal = ?", (*state, sealed)
        )
        self.execute("COMMIT")
        return state[0]

    def rollback(self) -> None:
        """Forget every change since the last commit."""
        if self.has_changes:
            self.execute("ROLLBACK")

    def begin_changes(self) -> None:
        """Open the transaction unless it is open."""
        if not self.has_changes:
            self.execute("BEGIN IMMEDIATE")
