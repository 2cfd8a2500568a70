"""One commit of an index, unchanged by writers that go on: its catalog, and the indexes over its segments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from spanwise.errors import IndexCorrupt, IndexEmpty
from spanwise.types import Document, Passage

from .analysis import Analyzer
from .ann import CACHE, ApproximateIndex, IvfCodes, Tuning, read_codes
from .catalog import Catalog
from .dense import VectorIndex
from .live_postings import LivePostings, StatisticsSource
from .maxsim.codebook import Codebook
from .maxsim.tokens import open_tokens
from .passage_rows import RowsSegment, StoredRows
from .postings import PostingsSegment
from .protocol import Floats, Ids, Index, Places, TermLists
from .segment import CODEBOOK, POSTINGS, TOKENS, VECTORS, Segment

if TYPE_CHECKING:
    import sqlite3

    from .maxsim.search import MaxSimIndex

_MAX_REMEMBERED = 4096  # passages, about 8 MB
_MAX_DOCUMENTS = 8  # that are remembered


class MakeLexical(Protocol):
    """Builds a lexical index over postings."""

    def __call__(
        self, postings: LivePostings, places: Places, corpus: StatisticsSource | None = None
    ) -> Index[TermLists]:
        """The index; `corpus` counts the whole collection if the postings are only a part of it."""


class Snapshot(Catalog):
    """The documents, passages and indexes of one commit. Made by `Store.snapshot`; close it after use.

    Hold it for one question or sync only: while its transaction is open, SQLite's log cannot shrink.
    `end_transaction` keeps the indexes open; call `reopen` before you read again. `left_out` says which part
    of an index of shards can be read, or is empty for all of it.
    """

    left_out = ""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._segments: tuple[Segment, ...] = ()
        self._deleted = np.empty(0, np.int64)
        self._known: dict[int, Passage] = {}
        self._documents: dict[str, Document] = {}
        self._postings: LivePostings | None = None
        self._lexical: dict[str, Index[TermLists]] = {}
        self._vectors: dict[tuple[str, bool], VectorIndex] = {}
        self._tokens: dict[str, tuple[StoredRows, Codebook]] = {}
        self._maxsim: dict[tuple[str, bool], MaxSimIndex] = {}

    def read(self, segments: Sequence[Segment]) -> None:
        """Take over the segments of the commit that was begun. Raise `IndexCorrupt` for a damaged state."""
        state = self.state()
        self.generation = state.generation
        self.digest = state.digest
        self.n_documents = state.n_documents
        self.n_passages = state.n_passages
        self._segments = tuple(segments)
        self._deleted = self.deleted()

    def __enter__(self) -> Snapshot:
        """The snapshot itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it. Indexes made before can still be searched, except that they cannot order ties."""
        self.close()

    def reopen(self) -> bool:
        """Begin to read again after `end_transaction`. False after another commit: then close it."""
        self.begin()
        return self.read_digest() == self.digest

    def document(self, document_id: str) -> Document:
        """See `Catalog.document`; recently used ones are not read again."""
        document = self._documents.pop(document_id, None) or super().document(document_id)
        if len(self._documents) >= _MAX_DOCUMENTS:
            self._documents.pop(next(iter(self._documents)), None)
        self._documents[document_id] = document
        return document

    def cached_passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in this order; recently used ones are not read again."""
        known = self._known
        lacking = [number for number in dict.fromkeys(passage_ids) if number not in known]
        if lacking:
            if len(known) + len(lacking) > _MAX_REMEMBERED:
                known = {number: known[number] for number in passage_ids if number in known}
            known.update(zip(lacking, self.passages(lacking), strict=True))
            self._known = known
        return [known[number] for number in passage_ids]

    def without_vectors(self, model_digest: str) -> Ids:
        """Live passages that lack a vector of this model, in the order of `passage_ids()`."""
        return self._without(VECTORS, model_digest)

    def without_tokens(self, model_digest: str) -> Ids:
        """Live passages that lack the tokens of this model, in the order of `passage_ids()`."""
        return self._without(TOKENS, model_digest)

    def vector_models(self) -> dict[str, int]:
        """The number of live passages with a vector, by the digest of the model."""
        return self._models(VECTORS)

    def token_models(self) -> dict[str, int]:
        """The number of live passages with tokens, by the digest of the model."""
        return self._models(TOKENS)

    def sizes(self) -> dict[str, int]:
        """The bytes of the segments of each kind, by kind."""
        sizes: dict[str, int] = {}
        for segment in self._segments:
            sizes[segment.kind] = sizes.get(segment.kind, 0) + len(segment.data)
        return dict(sorted(sizes.items()))

    def postings(self) -> LivePostings:
        """The postings of all segments as one; they are opened once, and their dictionaries checked."""
        if self._postings is None:
            parts = [PostingsSegment.open(part) for part in self._segments if part.kind == POSTINGS]
            self._postings = LivePostings(parts, self._deleted, self._passages_named)
        return self._postings

    def _passages_named(self, term: str) -> Ids:
        """The passages of the documents with a term in their path."""
        return self.passage_ids_of(self._names.get(term, ()))

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """The documents by the terms of their paths."""
        analyzer = Analyzer()
        names: dict[str, list[str]] = {}
        for document_id in self.document_ids():
            for term in analyzer.name_terms(document_id):
                names.setdefault(term, []).append(document_id)
        return names

    def lexical(self, name: str, make: MakeLexical) -> Index[TermLists]:
        """The index that `make` builds over the postings, once per `name` of a ranking."""
        if name not in self._lexical:
            self._lexical[name] = make(self.postings(), self.places)
        return self._lexical[name]

    def vectors(self, model_digest: str, exact: bool = False) -> Index[Floats]:
        """The dense index of one model, built once. Raise `IndexEmpty` if no live passage has its vectors.

        It is approximate if there is a FAISS index, unless `exact`.
        """
        key = (model_digest, exact)
        if key not in self._vectors:
            if not self.vector_models().get(model_digest):
                raise IndexEmpty(f"no passage has a vector of model {model_digest}")
            stored = self.stored_vectors(model_digest)
            codes = None if exact else self.codes(model_digest)
            if codes is None:
                stored.check()
                self._vectors[key] = VectorIndex(stored, self.places)
            else:
                self._vectors[key] = ApproximateIndex(stored, codes, self.places)
        return self._vectors[key]

    def stored_vectors(self, model_digest: str) -> StoredRows:
        """The live vectors of a model; each is compared with its checksum when it is read."""
        parts = [RowsSegment(part) for part in self._parts(VECTORS, model_digest)]
        return StoredRows.live(parts, self._deleted)

    def codes(self, model_digest: str) -> IvfCodes | None:
        """The FAISS codes of a model's vectors; None without intact ones."""
        return read_codes(self.path.parent / CACHE, model_digest)

    def tuning(self, model_digest: str) -> tuple[Tuning, int] | None:
        """The approximate search of a model, and the number of its codes; None for exact search."""
        codes = self.codes(model_digest)
        return None if codes is None else (codes.tuning, len(codes.passage_ids))

    def codebook(self, model_digest: str) -> Codebook | None:
        """The codebook of a model's tokens, every byte checked against its digest; None without one."""
        segments = self._parts(CODEBOOK, model_digest)
        if len(segments) > 1:
            raise IndexCorrupt(f"{segments[0].path.parent} holds two codebooks of model {model_digest}")
        return Codebook.from_segment(segments[0]) if segments else None

    def stored_tokens(self, model_digest: str) -> StoredRows:
        """The live tokens of a model. Raise `IndexEmpty` if no live passage has any."""
        return self._coded(model_digest)[0]

    def n_tokens(self, model_digest: str) -> int:
        """The number of live token vectors of a model. Raise `IndexEmpty` if there is none."""
        return self.stored_tokens(model_digest).n_rows

    def maxsim(self, model_digest: str, exact: bool = False) -> Index[Sequence[Floats]]:
        """The MaxSim index of one model, built once. Raise `IndexEmpty` if no live passage has its tokens."""
        key = (model_digest, exact)
        if key not in self._maxsim:
            from .maxsim.search import MaxSimIndex

            self._maxsim[key] = MaxSimIndex(*self._coded(model_digest), self.places, exact)
        return self._maxsim[key]

    def _coded(self, model_digest: str) -> tuple[StoredRows, Codebook]:
        if model_digest not in self._tokens:
            if not self.token_models().get(model_digest):
                raise IndexEmpty(f"no passage has tokens of model {model_digest}")
            codebook = self.codebook(model_digest)
            if codebook is None:
                raise IndexCorrupt(f"{self.path.parent} lacks the codebook of model {model_digest}")
            parts = [open_tokens(part, codebook) for part in self._parts(TOKENS, model_digest)]
            self._tokens[model_digest] = StoredRows.live(parts, self._deleted), codebook
        return self._tokens[model_digest]

    def _without(self, kind: str, model_digest: str) -> Ids:
        ids = self.passage_ids()
        held = [segment.passage_ids for segment in self._parts(kind, model_digest)]
        return ids[np.isin(ids, np.concatenate([ids[:0], *held]), invert=True)]

    def _models(self, kind: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for segment in self._segments:
            if segment.kind == kind:
                live = np.isin(segment.passage_ids, self._deleted, invert=True)
                counts[segment.model] = counts.get(segment.model, 0) + int(live.sum())
        return {model: count for model, count in counts.items() if count}

    def _parts(self, kind: str, model_digest: str) -> list[Segment]:
        return [part for part in self._segments if (part.kind, part.model) == (kind, model_digest)]
