"""The one writer of an index: collects changes and makes them visible in one commit.

    with store.writer() as writer:
        writer.put(document, passages, terms, state)
        writer.commit()

A commit writes the new segments durably, then lists them in one SQLite transaction. So a kill at any moment
leaves the last commit intact. Segments are merged afterwards, in a separate transaction: new words are
visible before the merge ends. Leaving the context without a commit discards all changes. The next writer
removes directories that the catalog does not list, left by a kill or a merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from spanwise.errors import SpanwiseError
from spanwise.types import Document, Passage

from .ann import CACHE, IvfCodes, remove_codes, write_codes
from .catalog import CatalogWriter
from .files import CATALOG, LOCK, SEGMENTS, OnWait, WriteLock, named_errors
from .maxsim.codebook import Codebook
from .maxsim.tokens import PendingTokens
from .merge import merge_segments, orphans, remove_orphans
from .passage_rows import Data, PendingRows
from .postings import PostingsBuilder
from .protocol import Counts, Floats, Ids, TermLists
from .schema import FileState, SegmentEntry, UnreadFile, document_row, passage_row, unread_row, upgrade
from .segment import CODEBOOK, POSTINGS, TOKENS, VECTORS, Columns, write_segment
from .top_k import check_vectors

_MAX_PAIRS = 4_000_000  # about 100 MB; beyond that a segment is written before the commit


class Writer:
    """A context manager that changes an index and holds its write lock. Made by `Store.writer`."""

    def __init__(self, folder: Path, timeout_s: float, on_wait: OnWait | None = None) -> None:
        self._folder = folder
        self._segments = folder / SEGMENTS
        self._timeout_s = timeout_s
        self._on_wait = on_wait
        self._lock = WriteLock(folder / LOCK)
        self._failed = False
        self._postings = PostingsBuilder()
        self._catalog: CatalogWriter
        self._vectors: PendingRows
        self._tokens: PendingTokens
        self.reused_vectors = 0
        """The number of passages stored so far with copied vectors or tokens; commits do not reset it."""

    def __enter__(self) -> Writer:
        """Take the lock. Raise `IndexLocked` when another writer holds it for longer than the timeout."""
        with named_errors(self._folder):
            self._lock.acquire(self._timeout_s, self._on_wait)
        with ExitStack() as undo:
            undo.callback(self._lock.release)
            upgrade(self._folder / CATALOG)
            self._catalog = CatalogWriter.open(self._folder / CATALOG)
            undo.callback(self._catalog.close)
            self._vectors = PendingRows(VECTORS, self._segments, self._catalog)
            self._tokens = PendingTokens(self._segments, self._catalog)
            if orphans(self._segments, self._catalog):
                self._catalog.settle()
                self._remove_orphans()
            undo.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        """Discard uncommitted changes and release the lock."""
        try:
            self._catalog.rollback()
            if not self._failed:
                self._remove_orphans()
        finally:
            self._catalog.close()
            self._lock.release()

    def put(
        self,
        document: Document,
        passages: Sequence[Passage],
        terms: TermLists,
        state: FileState,
    ) -> list[int]:
        """Add a document, or replace the one with the same id; return the new ids of its passages.

        `terms` holds the index terms of each passage; the ids in `passages` are ignored. A passage with the
        indexed text of another, live or deleted, gets a copy of its vectors: `reused_vectors` counts these.
        So put a renamed document before you remove the old one. An unread file of that id is forgotten.
        """
        check_passages(document, passages)
        row = document_row(document, state)
        passage_rows = [passage_row(passage) for passage in passages]
        with self._change():
            self._catalog.remove_document(document.id)
            self._catalog.remove_unread_file(document.id)
            sources = self._same_content([row["content"] for row in passage_rows])
            ids = self._catalog.add_document(row, passage_rows)
            self.reused_vectors += self._reuse(ids, sources)
            for passage_id, passage_terms in zip(ids, terms, strict=True):
                self._postings.add(passage_id, passage_terms)
            self._flush_full()
        return ids

    def touch(self, document_id: str, state: FileState) -> None:
        """Store the new time of an unchanged file. Raise `ValueError` when no document has these bytes."""
        with self._change():
            is_known = self._catalog.touch(document_id, state)
        if not is_known:
            raise ValueError(f"no document {document_id!r} with sha256 {state.sha256} in {self._folder}")

    def remove(self, document_id: str) -> None:
        """Delete a document and its passages. Raise `ValueError` without such a document."""
        with self._change():
            is_known = self._catalog.remove_document(document_id)
        if not is_known:
            raise ValueError(f"no document {document_id!r} in the index {self._folder}")

    def put_unread_file(self, document_id: str, unread: UnreadFile) -> None:
        """Store or replace the reason why a file was not read. A document of that id stays until removed."""
        row = unread_row(document_id, unread)
        with self._change():
            self._catalog.put_unread_file(row)

    def remove_unread_file(self, document_id: str) -> None:
        """Forget that a file was not read. Raise `ValueError` if it is not known."""
        with self._change():
            is_known = self._catalog.remove_unread_file(document_id)
        if not is_known:
            raise ValueError(f"no unread file {document_id!r} in the index {self._folder}")

    def put_vectors(self, model_digest: str, passage_ids: Sequence[int], rows: Floats) -> int:
        """Store one unit vector per passage; return the number stored.

        Passages that were deleted meanwhile, or that have a vector of this model, are skipped: another
        process was faster. `VectorRejected` names the first bad row, and then nothing changes.
        """
        ids = _checked_ids(model_digest, passage_ids)
        width = self._vectors.width(model_digest)
        check_vectors(rows, width, len(ids), lambda row: f"passage {ids[row]}")
        live = np.isin(ids, self._catalog.live_among(passage_ids))
        return self.copy_rows(
            model_digest, False, ids[live], np.ones_like(ids[live]), {"vectors": rows[live]}
        )

    def codebook(self, model_digest: str) -> Codebook | None:
        """The codebook that encodes the next tokens of a model; None when one must be stored first."""
        with named_errors(self._folder):
            return self._tokens.codebook(model_digest)

    def put_codebook(self, model_digest: str, codebook: Codebook) -> None:
        """Store the codebook that encodes the tokens of a model. Raise `ValueError` if it has tokens."""
        _checked_ids(model_digest, [])
        if self._tokens.rows.n_rows(model_digest):
            raise ValueError(f"model {model_digest} has tokens of another codebook: drop them first")
        with self._change():
            self._tokens.put_codebook(model_digest, codebook)
            self._catalog.begin_changes()

    def put_tokens(
        self,
        model_digest: str,
        passage_ids: Sequence[int],
        vectors: Floats,
        lengths: Sequence[int] | Counts,
    ) -> int:
        """Store the token vectors of passages, compressed; return the number of these passages.

        `vectors` (T, width) float32 holds `lengths[i]` rows for passage i, one passage after another. The
        model must have a codebook, which is extended when it no longer fits. See `put_vectors` for skipped
        and rejected rows.
        """
        ids = _checked_ids(model_digest, passage_ids)
        counts = self._tokens.check(model_digest, vectors, lengths, passage_ids)
        live = np.isin(ids, self._catalog.live_among(passage_ids))
        with self._change():
            stored = self._tokens.put(model_digest, ids, vectors, counts, live)
            if stored:
                self._flush_full()
        return stored

    def copy_rows(self, model_digest: str, is_tokens: bool, ids: Ids, lengths: Ids, data: Data) -> int:
        """Store rows, vectors or token codes, for the passages that have none; return their number.

        `data` is as from `StoredRows.read`; codes must belong to the codebook of this index.
        """
        rows = self._tokens.rows if is_tokens else self._vectors
        with self._change():
            lacking = rows.lacking(model_digest, ids)
            if lacking.any():
                is_new = np.repeat(lacking, lengths)
                data = {name: column[is_new] for name, column in data.items()}
                rows.add(model_digest, ids[lacking], lengths[lacking], data)
                self._flush_full()
        return int(lacking.sum())

    def drop_vectors(self, model_digest: str) -> None:
        """Delete the dense vectors of a model, if any."""
        with self._change():
            self._drop(VECTORS, model_digest)
            self._vectors.drop(model_digest)

    def drop_tokens(self, model_digest: str) -> None:
        """Delete the tokens of a model and their codebook, if any."""
        with self._change():
            self._drop(TOKENS, model_digest)
            self._drop(CODEBOOK, model_digest)
            self._tokens.drop(model_digest)

    def put_codes(self, model_digest: str, codes: IvfCodes) -> None:
        """Replace the FAISS index of a model's vectors at once: a cache does not belong to a commit."""
        with named_errors(self._folder):
            write_codes(self._folder / CACHE, model_digest, codes)

    def set(self, key: str, value: str) -> None:
        """Add or replace a setting of the index."""
        with self._change():
            self._catalog.set(key, value)

    def commit(self) -> int:
        """Make all changes durable and visible at once; return the number of the commit.

        The commit is durable even if the merge that follows it fails.
        """
        with self._change():
            if not self._catalog.has_changes:
                return self._catalog.generation()
            self._flush_postings()
            self._flush_rows(self._vectors)
            self._flush_rows(self._tokens.rows)
            for model, columns in self._tokens.changed_codebooks():
                self._drop(CODEBOOK, model)
                self._write(CODEBOOK, model, columns)
            generation = self._catalog.commit()
            merge_segments(self._segments, self._catalog)
            self._remove_orphans()  # of this commit and of the merge
            self._vectors.refresh()
            self._tokens.rows.refresh()
            return generation

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Inside the context, a failure discards all pending changes, so that no part is ever committed."""
        if self._failed:
            raise SpanwiseError(f"this writer of {self._folder} failed before: open a new one")
        try:
            with named_errors(self._folder):
                yield
        except BaseException:
            self._failed = True
            self._catalog.rollback()
            raise

    def _same_content(self, contents: Sequence[str]) -> list[list[int]]:
        """The older passages with each content; none if there are no vectors to copy."""
        if not (self._vectors.stored() or self._tokens.rows.stored()):
            return [[] for _ in contents]
        passages = self._catalog.passages_with_content(contents)
        return [passages.get(content, []) for content in contents]

    def _reuse(self, ids: Sequence[int], sources: Sequence[Sequence[int]]) -> int:
        """Copy rows of older passages for new ones; return the number of passages that got some."""
        new = np.repeat(np.array(ids, np.int64), [len(olds) for olds in sources])
        old = np.array([number for olds in sources for number in olds], np.int64)
        served = self._vectors.reuse(new, old) | self._tokens.rows.reuse(new, old)
        return len(np.unique(new[served]))

    def _flush_full(self) -> None:
        """Write what takes much memory; the transaction is open afterwards."""
        self._catalog.begin_changes()
        if len(self._postings) > _MAX_PAIRS:
            self._flush_postings()
        for rows in (self._vectors, self._tokens.rows):
            if rows.is_full:
                self._flush_rows(rows)

    def _flush_postings(self) -> None:
        if self._postings.n_passages:
            self._write(POSTINGS, "", self._postings.columns())
            self._postings = PostingsBuilder()

    def _flush_rows(self, rows: PendingRows) -> None:
        for model, columns in rows.columns():
            self._write(rows.kind, model, columns)
        rows.refresh()

    def _drop(self, kind: str, model: str) -> None:
        entries = self._catalog.segments()
        ids = [entry.id for entry in entries if (entry.kind, entry.model) == (kind, model)]
        if ids:
            self._catalog.drop_segments(ids)

    def _write(self, kind: str, model: str, columns: Columns) -> None:
        name = write_segment(self._segments, kind, model, columns)
        rows = columns["passage_ids"].shape[0] if "passage_ids" in columns else 0
        self._catalog.add_segment(SegmentEntry(name, kind, model, rows))

    def _remove_orphans(self) -> None:
        """Delete segments that the catalog does not list, and the codes of vectors that are gone."""
        remove_orphans(self._segments, self._catalog)
        models = {entry.model for entry in self._catalog.segments() if entry.kind == VECTORS}
        remove_codes(self._folder / CACHE, lambda model: model not in models)


def check_passages(document: Document, passages: Sequence[Passage]) -> None:
    """Raise `ValueError` unless each passage is a span of the document."""
    for passage in passages:
        text = document.text[passage.start : passage.end]
        if (passage.document_id, passage.text) != (document.id, text):
            raise ValueError(
                f"passage {passage.start}:{passage.end} is not the text of {document.id!r} there"
            )


def _checked_ids(model_digest: str, passage_ids: Sequence[int]) -> Ids:
    """The ids as a column. Raise `ValueError` for a duplicate, or for an empty model digest."""
    if not model_digest:
        raise ValueError("the digest of the model is empty")
    ids = np.array(passage_ids, np.int64)
    if len(np.unique(ids)) != len(ids):
        raise ValueError("a passage is named twice")
    return ids
