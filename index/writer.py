"""The one writer of an index: stages changes and makes them visible in one commit.

    with store.writer() as writer:
        writer.put(document, passages, terms, state)
        writer.commit()

A commit writes the new segments (written, fsynced, renamed), then names them in one SQLite transaction, so a
kill at any moment leaves the last commit as it was. Segments are merged after that, in a transaction of their
own, so that nobody waits for a merge to see new words. Leaving the context without a commit forgets
everything. Directories that no catalog names, left by a kill or a merge, are removed by the next writer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import SpanwiseError
from spanwise.types import Document, Passage

from . import postings
from .catalog_writer import CatalogWriter
from .code_cache import CACHE, drop_codes, write_codes
from .codes import Codes
from .faults import named_faults
from .lock import WriteLock
from .maxsim.codebook import Codebook
from .maxsim.stored_codebook import KIND as CODEBOOK
from .maxsim.token_staging import TokenStaging
from .maxsim.tokens import KIND as TOKENS
from .merge import merge_segments
from .orphans import orphans, remove_orphans
from .postings import PostingsBuilder
from .rows import FileState, Refusal, document_row, passage_row, refusal_row
from .segment_writer import Columns, write_segment
from .staging import covered_column
from .state import SegmentEntry
from .vector_staging import VectorStaging
from .vectors import KIND as VECTORS
from .writer_input import check_digest, check_document, checked_ids

_MOST_PAIRS = 4_000_000  # about 100 MB; then a segment is written before the commit


class Writer:
    """Made by `Store.writer`; a context manager that holds the write lock from entry to exit."""

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._lock = WriteLock(folder / "write.lock")
        self._failed = False
        self._postings = PostingsBuilder()
        self._catalog: CatalogWriter
        self._vectors: VectorStaging
        self._tokens: TokenStaging
        self.reused_vectors = 0
        """How many passages put so far took over vectors or tokens of others; commits do not reset it."""

    def __enter__(self) -> Writer:
        """Take the lock; `IndexLocked` when another writer holds it for longer than the timeout."""
        with named_faults(self._folder):
            self._lock.acquire(self._timeout_s)
        with ExitStack() as undo:
            undo.callback(self._lock.release)
            self._catalog = CatalogWriter.open(self._folder / "catalog.sqlite")
            undo.callback(self._catalog.close)
            self._vectors = VectorStaging(self._segments, self._catalog)
            self._tokens = TokenStaging(self._segments, self._catalog)
            if orphans(self._segments, self._catalog):
                self._catalog.settle()
                self._remove_orphans()
            undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Forget what was not committed and let the next writer in."""
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
        terms: Sequence[Sequence[str]],
        state: FileState,
    ) -> list[int]:
        """Add a document, or replace the one of the same id; the new ids of its passages.

        `terms` holds the index terms of each passage; the ids in `passages` are ignored. A passage whose
        indexed text is that of another, live or deleted a while ago, takes over its vectors: `reused_vectors`
        counts them. So a rename is best put under the new id before the old one is removed; the other order
        works too, until a merge drops what was removed. A refusal of the same id is forgotten.
        """
        check_document(document, passages, terms, state)
        row, passage_rows = document_row(document, state), [passage_row(passage) for passage in passages]
        with self._staging():
            self._catalog.remove_document(document.id)
            self._catalog.remove_refusal(document.id)
            twins = self._twins([row["content"] for row in passage_rows])
            ids = self._catalog.add_document(row, passage_rows)
            self.reused_vectors += self._reuse(ids, twins)
            for passage_id, passage_terms in zip(ids, terms, strict=True):
                self._postings.add(passage_id, passage_terms)
            self._flush_what_is_full()
        return ids

    def touch(self, document_id: str, state: FileState) -> None:
        """Note that the file of a document has a new time but the same bytes."""
        with self._staging():
            found = self._catalog.touch(document_id, state)
        if not found:
            raise ValueError(f"no document {document_id!r} with sha256 {state.sha256} in {self._folder}")

    def remove(self, document_id: str) -> None:
        """Delete a document and its passages; `ValueError` when there is none."""
        with self._staging():
            found = self._catalog.remove_document(document_id)
        if not found:
            raise ValueError(f"no document {document_id!r} in the index {self._folder}")

    def refuse(self, document_id: str, refusal: Refusal) -> None:
        """Remember that a file was refused and why, or replace what was remembered: durable with the next
        commit, without effect on any ranking. A document of that id stays until it is removed.
        """
        row = refusal_row(document_id, refusal)
        with self._staging():
            self._catalog.add_refusal(row)

    def forget_refusal(self, document_id: str) -> None:
        """Forget that a file was refused, as when it is gone; `ValueError` when it was not."""
        with self._staging():
            found = self._catalog.remove_refusal(document_id)
        if not found:
            raise ValueError(f"no refusal of {document_id!r} in the index {self._folder}")

    def put_vectors(
        self,
        model_digest: str,
        passage_ids: Sequence[int],
        rows: NDArray[np.float32],
        covered: Sequence[int] | NDArray[np.integer] | None = None,
    ) -> int:
        """Store one unit vector a passage; how many were stored.

        `covered` says for each how many code points of its indexed text, from the start, the model's window
        saw. Passages that were deleted since, or that have a vector of this model already, are passed over:
        another process was faster. `VectorRejected` names the first bad row, and then nothing changes.
        """
        ids = checked_ids(model_digest, passage_ids)
        self._vectors.check(model_digest, rows, passage_ids)
        column = covered_column(covered, len(ids))
        live = np.isin(ids, self._catalog.live_among(passage_ids))
        with self._staging():
            stored = self._vectors.put(model_digest, ids[live], rows[live], column[live])
            if stored:
                self._catalog.begin_changes()
                self._flush_what_is_full()
        return stored

    def codebook(self, model_digest: str) -> Codebook | None:
        """The codebook by which the next tokens of a model would be encoded; None when one must be put."""
        with named_faults(self._folder):
            return self._tokens.codebook(model_digest)

    def put_codebook(self, model_digest: str, codebook: Codebook) -> None:
        """Store the codebook by which the tokens of a model are encoded from now on.

        `ValueError` when the model has tokens and this is no extension of their codebook: `drop_tokens`.
        """
        check_digest(model_digest)
        if self._tokens.is_news(model_digest, codebook):
            with self._staging():
                self._tokens.put_codebook(model_digest, codebook)
                self._catalog.begin_changes()

    def put_tokens(
        self,
        model_digest: str,
        passage_ids: Sequence[int],
        vectors: NDArray[np.float32],
        lengths: Sequence[int] | NDArray[np.integer],
        covered: Sequence[int] | NDArray[np.integer] | None = None,
    ) -> int:
        """Store the token vectors of passages, compressed; how many passages those were.

        `vectors` (T, width) float32 are those of all the passages, one after another, `lengths` says how many
        each has. The codebook of the model must have been put; it is extended when it no longer fits. For
        `covered`, and for what is passed over or rejected, see `put_vectors`.
        """
        ids = checked_ids(model_digest, passage_ids)
        counts = self._tokens.check(model_digest, vectors, lengths, passage_ids)
        column = covered_column(covered, len(ids))
        live = np.isin(ids, self._catalog.live_among(passage_ids))
        with self._staging():
            stored = self._tokens.put(model_digest, ids, vectors, counts, column, live)
            if stored:
                self._catalog.begin_changes()
                self._flush_what_is_full()
        return stored

    def drop_tokens(self, model_digest: str) -> None:
        """Delete the tokens of a model and their codebook; none is fine."""
        with self._staging():
            self._drop(TOKENS, model_digest)
            self._drop(CODEBOOK, model_digest)
            self._tokens.forget(model_digest)

    def put_codes(self, model_digest: str, codes: Codes) -> None:
        """Replace the compact codes of a model's vectors, at once: a cache is no part of a commit."""
        with named_faults(self._folder):
            write_codes(self._folder / CACHE, model_digest, codes)

    def set(self, key: str, value: str) -> None:
        """Add or replace a setting of the index."""
        with self._staging():
            self._catalog.set(key, value)

    def commit(self) -> int:
        """Make everything staged durable and visible at once; the number of the generation.

        When this fails in the merge that follows, the generation is durable all the same.
        """
        with self._staging():
            if not self._catalog.has_changes:
                return self._catalog.generation()
            self._flush_postings()
            self._flush_vectors()
            self._flush_tokens()
            self._flush_codebooks()
            generation = self._catalog.commit()
            merge_segments(self._segments, self._catalog)
            self._remove_orphans()  # of this commit and of the merge
            self._vectors.refresh()
            self._tokens.refresh()
            return generation

    @property
    def _segments(self) -> Path:
        return self._folder / "segments"

    @contextmanager
    def _staging(self) -> Iterator[None]:
        """A change that fails half-way takes all that is staged with it: no part may ever be committed."""
        if self._failed:
            raise SpanwiseError(f"this writer of {self._folder} failed before: open a new one")
        try:
            with named_faults(self._folder):
                yield
        except BaseException:
            self._failed = True
            self._catalog.rollback()
            raise

    def _twins(self, contents: Sequence[str]) -> list[list[int]]:
        """For each content older passages that have it; looked for only while there is something to reuse."""
        if self._vectors.stores_nothing and self._tokens.stores_nothing:
            return [[] for _ in contents]
        twins = self._catalog.twins(contents)
        return [twins.get(content, []) for content in contents]

    def _reuse(self, ids: Sequence[int], twins: Sequence[Sequence[int]]) -> int:
        """Stage for new passages what models made of their twins; how many passages got something."""
        new = np.repeat(np.array(ids, np.int64), [len(olds) for olds in twins])
        old = np.array([number for olds in twins for number in olds], np.int64)
        served = self._vectors.reuse(new, old) | self._tokens.reuse(new, old)
        return len(np.unique(new[served]))

    def _flush_what_is_full(self) -> None:
        if len(self._postings) > _MOST_PAIRS:
            self._flush_postings()
        if self._vectors.is_full:
            self._flush_vectors()
        if self._tokens.is_full:
            self._flush_tokens()

    def _flush_postings(self) -> None:
        if self._postings.n_passages:
            self._write(postings.KIND, "", self._postings.columns())
            self._postings = PostingsBuilder()

    def _flush_vectors(self) -> None:
        for model, columns in self._vectors.columns():
            self._write(VECTORS, model, columns)
        self._vectors.refresh()

    def _flush_tokens(self) -> None:
        for model, columns in self._tokens.columns():
            self._write(TOKENS, model, columns)
        self._tokens.refresh()

    def _flush_codebooks(self) -> None:
        """A codebook takes the place of the one that it extends."""
        for model, columns in self._tokens.changed_codebooks():
            self._drop(CODEBOOK, model)
            self._write(CODEBOOK, model, columns)

    def _drop(self, kind: str, model: str) -> None:
        entries = self._catalog.segments()
        if found := [entry.id for entry in entries if (entry.kind, entry.model) == (kind, model)]:
            self._catalog.drop_segments(found)

    def _write(self, kind: str, model: str, columns: Columns) -> None:
        name = write_segment(self._segments, kind, model, columns)
        rows = columns["passage_ids"].shape[0] if "passage_ids" in columns else 0
        self._catalog.add_segment(SegmentEntry(name, kind, model, rows))

    def _remove_orphans(self) -> None:
        """Delete what no catalog names, and the codes of vectors that are gone."""
        remove_orphans(self._segments, self._catalog)
        models = {entry.model for entry in self._catalog.segments() if entry.kind == VECTORS}
        drop_codes(self._folder / CACHE, models)
