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
    id, size, mtime_ns, sha256, media_type, title, page_starts, headings, labels, metadata, text, digest
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_PASSAGE = """
INSERT INTO passages (document_id, start, "end", page, line, heading, label, content, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_REFUSAL = "INSERT OR REPLACE INTO refusals VALUES (?, ?, ?, ?, ?, ?, ?)"
# The oldest and the newest passage of each content, live and deleted: likelier than others to have vectors.
_TWINS = """
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


class CatalogWriter(Catalog):
    """The catalog with the statements that change it; each method begins the transaction if none is open."""

    @property
    def has_changes(self) -> bool:
        """True between the first change and the commit or rollback."""
        return self._database.in_transaction

    def add_document(self, document: Row, passages: Iterable[Row]) -> list[int]:
        """Store a document that is not there yet; the new ids of its passages, which are never used again."""
        self.begin_changes()
        self.execute(_DOCUMENT, tuple(document.values()))
        return [self.execute(_PASSAGE, tuple(passage.values())) for passage in passages]

    def remove_document(self, document_id: str) -> bool:
        """Delete a document and bury its passages; False when there is none."""
        self.begin_changes()
        self.execute(
            "INSERT INTO tombstones SELECT id, content FROM passages WHERE document_id = ?", (document_id,)
        )
        self.execute("DELETE FROM passages WHERE document_id = ?", (document_id,))
        return bool(self.rows("DELETE FROM documents WHERE id = ? RETURNING id", document_id))

    def twins(self, contents: Sequence[str]) -> dict[str, list[int]]:
        """Passages of equal content, up to four for each digest: live ones, and deleted ones that segments
        still hold. What the content is, is read from the rows themselves: the index only finds them.
        """
        found: dict[str, list[int]] = {}
        for row in self.rows(_TWINS, json.dumps(sorted(set(contents)))):
            found.setdefault(row["content"], []).append(row["id"])
        return found

    def add_refusal(self, row: Row) -> None:
        """Store or replace why a file was refused."""
        self.begin_changes()
        self.execute(_REFUSAL, tuple(row.values()))

    def remove_refusal(self, document_id: str) -> bool:
        """Forget that a file was refused; False when it was not."""
        self.begin_changes()
        sql = "DELETE FROM refusals WHERE document_id = ? RETURNING document_id"
        return bool(self.rows(sql, document_id))

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
        self._seal(self.generation() + 1, counts["documents"], counts["passages"])
        return self.generation()

    def commit_merge(self) -> None:
        """Make other segments visible that hold the same rows: the generation stays the same."""
        (state,) = self.rows("SELECT generation, documents, passages FROM state")
        self._seal(state["generation"], state["documents"], state["passages"])

    def settle(self) -> None:
        """Commit what is there already, so that no commit that failed before can come back from the log."""
        self.execute("BEGIN IMMEDIATE")
        self.execute("UPDATE state SET generation = generation + 1")  # without a change nothing is written
        self.execute("UPDATE state SET generation = generation - 1")
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Forget every change since the last commit."""
        if self.has_changes:
            self.execute("ROLLBACK")

    def _seal(self, generation: int, n_documents: int, n_passages: int) -> None:
        counts = (generation, n_documents, n_passages)
        sealed = seal(*counts, self.settings(), self.segments(), self.deleted())
        self.execute(
            "UPDATE state SET generation = ?, documents = ?, passages = ?, seal = ?", (*counts, sealed)
        )
        self.execute("COMMIT")

    def begin_changes(self) -> None:
        """Open the transaction unless it is open, on a catalog that is whole."""
        if not self.has_changes:
            self.execute("BEGIN IMMEDIATE")
            self.state()
