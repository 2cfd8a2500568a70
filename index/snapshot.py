"""One generation of an index, whole and unchanging while a writer goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexCorrupt, IndexEmpty
from spanwise.types import Document, Passage

from . import postings, vectors
from .approximate_index import ApproximateIndex
from .catalog import Catalog
from .code_cache import CACHE, read_codes
from .codes import Codes
from .live_postings import LivePostings
from .maxsim import tokens
from .maxsim.codebook import Codebook
from .maxsim.stored_codebook import KIND as CODEBOOK
from .maxsim.stored_codebook import read_codebook
from .maxsim.stored_tokens import StoredTokens
from .maxsim.tokens import TokenSegment
from .passage_memory import PassageMemory
from .postings import PostingsSegment
from .rows import Description, Facts, FileState, Refusal
from .segment import Segment
from .sorted_ids import rows_of
from .stored_vectors import StoredVectors
from .vector_index import VectorIndex
from .vectors import Coverage, VectorSegment

if TYPE_CHECKING:
    from .maxsim.maxsim_index import MaxSimIndex

_BATCH = 512


class Snapshot:
    """Made by `Store.snapshot`: documents, passages and indexes of one generation; close it after use.

    Hold it for a question or a sync, not for an hour: while it is open SQLite's log cannot shrink. `rest`
    lets go of the log and keeps what was opened; to read again takes a `wake` that says nothing changed.
    """

    def __init__(self, catalog: Catalog, segments: Sequence[Segment]) -> None:
        state = catalog.state()
        self.generation = state.generation
        self.seal = state.seal
        self.n_documents = state.n_documents
        self.n_passages = state.n_passages
        self._catalog = catalog
        self._segments = tuple(segments)
        self._deleted = catalog.deleted()
        self._found = PassageMemory(catalog.passages)
        self._postings: LivePostings | None = None
        self._vectors: dict[tuple[str, bool], VectorIndex | ApproximateIndex] = {}
        self._tokens: dict[str, StoredTokens] = {}
        self._maxsim: dict[tuple[str, bool], MaxSimIndex] = {}

    def __enter__(self) -> Snapshot:
        """The snapshot itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the generation; indexes made before can still be searched, apart from ties."""
        self._catalog.close()

    def rest(self) -> None:
        """End the transaction; nothing may be read until `wake`."""
        self._catalog.rest()

    def wake(self) -> bool:
        """Begin to read again; False when something was committed meanwhile: then close it."""
        self._catalog.begin()
        return self._catalog.seal() == self.seal

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of this generation."""
        return self._catalog.settings()

    def files(self) -> dict[str, FileState]:
        """The state of the file behind each live document, by document id in order."""
        return self._catalog.files()

    def refusals(self) -> dict[str, Refusal]:
        """Why files were refused, by document id in order."""
        return self._catalog.refusals()

    def descriptions(self) -> list[Description]:
        """What is known about each document, by id in order, without reading its text. Made to be shown: the
        digests that vouch for documents are only compared by `document`.
        """
        return self._catalog.descriptions()

    def document_ids(self) -> list[str]:
        """The live documents, in no certain order."""
        return self._catalog.document_ids()

    def facts(self) -> Facts:
        """What filters look at: type, time and metadata of each document, read without its text."""
        return self._catalog.facts()

    def passage_ids_of(self, document_ids: Sequence[str]) -> NDArray[np.int64]:
        """The passages of these documents, ascending."""
        return self._catalog.passage_ids_of(document_ids)

    def document(self, document_id: str) -> Document:
        """A document; `ValueError` for an id that is not in the index."""
        return self._catalog.document(document_id)

    def passages(self, passage_ids: Sequence[int]) -> list[Passage]:
        """Passages with their text, in the order asked; `ValueError` for an id that is not in the index."""
        return self._catalog.passages(passage_ids)

    def found(self, passage_ids: Sequence[int]) -> list[Passage]:
        """The same for passages that a search found: what was found lately is not read again."""
        return self._found.of(passage_ids)

    def passage_ids(self) -> NDArray[np.int64]:
        """All live passages, ordered by (document id, start, end)."""
        return self._catalog.passage_ids()

    def all_passages(self, passage_ids: Sequence[int] | None = None) -> Iterator[Passage]:
        """These passages (all, in the order of `passage_ids()`), read a few hundred at a time."""
        wanted = self.passage_ids().tolist() if passage_ids is None else list(passage_ids)
        for first in range(0, len(wanted), _BATCH):
            yield from self.passages(wanted[first : first + _BATCH])

    def without_vectors(self, model_digest: str) -> NDArray[np.int64]:
        """Live passages that lack a vector of this model, in the order of `passage_ids()`."""
        return self._without(vectors.KIND, model_digest)

    def without_tokens(self, model_digest: str) -> NDArray[np.int64]:
        """Live passages that lack the tokens of this model, in the order of `passage_ids()`."""
        return self._without(tokens.KIND, model_digest)

    def coverage(self, model_digest: str) -> Coverage:
        """How much the window of a model saw of each live passage that has a vector or tokens of it."""
        parts: list[VectorSegment | TokenSegment] = [
            *map(VectorSegment, self._parts(vectors.KIND, model_digest)),
            *map(TokenSegment, self._parts(tokens.KIND, model_digest)),
        ]
        covered = np.concatenate([np.empty(0, np.int32), *(part.covered for part in parts)])
        ids = np.concatenate([np.empty(0, np.int64), *(part.passage_ids for part in parts)])
        order = np.argsort(ids)
        order = order[np.isin(ids[order], self._deleted, invert=True)]
        return Coverage(ids[order], covered[order])

    def vector_models(self) -> dict[str, int]:
        """The digest of each model that wrote vectors, and how many live passages have one."""
        return self._models(vectors.KIND)

    def token_models(self) -> dict[str, int]:
        """The digest of each model that wrote tokens, and how many live passages have them."""
        return self._models(tokens.KIND)

    def sizes(self) -> dict[str, int]:
        """How many bytes the segments of each kind take, by kind."""
        sizes: dict[str, int] = {}
        for segment in self._segments:
            sizes[segment.kind] = sizes.get(segment.kind, 0) + len(segment.data)
        return dict(sorted(sizes.items()))

    def places(self, passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
        """The (document id, start, end) of passages, which orders those that score alike."""
        return self._catalog.places(passage_ids)

    def postings(self) -> LivePostings:
        """The postings of all segments as one, opened once; their dictionaries have proved to be whole."""
        if self._postings is None:
            parts = [PostingsSegment.open(part) for part in self._segments if part.kind == postings.KIND]
            self._postings = LivePostings(parts, self._deleted)
        return self._postings

    def vectors(self, model_digest: str, exact: bool = False) -> VectorIndex | ApproximateIndex:
        """The dense index of one model, built once; `IndexEmpty` when no live passage has a vector of it.

        It is approximate where codes were made, unless `exact`.
        """
        key = (model_digest, exact)
        if key not in self._vectors:
            self._vectors[key] = self._built(*key)
        return self._vectors[key]

    def _built(self, model_digest: str, exact: bool) -> VectorIndex | ApproximateIndex:
        if not self.vector_models().get(model_digest):
            raise IndexEmpty(f"no passage has a vector of model {model_digest}")
        if not exact and (codes := self.codes(model_digest)):
            return ApproximateIndex.build(self.stored_vectors(model_digest), codes, self.places)
        parts = [VectorSegment.open(part) for part in self._parts(vectors.KIND, model_digest)]
        return VectorIndex.build(parts, self._deleted, self.places)

    def stored_vectors(self, model_digest: str) -> StoredVectors:
        """The live vectors of a model, each compared with its sum when it is read."""
        parts = [VectorSegment(part) for part in self._parts(vectors.KIND, model_digest)]
        return StoredVectors.live(parts, self._deleted, checked=False)

    def codes(self, model_digest: str) -> Codes | None:
        """The compact codes of a model's vectors; None when there are none, or none that can be trusted."""
        return read_codes(self._catalog.path.parent / CACHE, model_digest)

    def codebook(self, model_digest: str) -> Codebook | None:
        """The codebook of a model's tokens, with every byte compared with its digest; None without one."""
        found = self._parts(CODEBOOK, model_digest)
        if len(found) > 1:
            raise IndexCorrupt(f"{found[0].path.parent} holds two codebooks of model {model_digest}")
        return read_codebook(found[0]) if found else None

    def stored_tokens(self, model_digest: str) -> StoredTokens:
        """The live tokens of a model; `IndexEmpty` when no live passage has any."""
        if model_digest not in self._tokens:
            self._tokens[model_digest] = self._opened_tokens(model_digest)
        return self._tokens[model_digest]

    def _opened_tokens(self, model_digest: str) -> StoredTokens:
        if not self.token_models().get(model_digest):
            raise IndexEmpty(f"no passage has tokens of model {model_digest}")
        codebook = self.codebook(model_digest)
        if codebook is None:
            raise IndexCorrupt(f"{self._catalog.path.parent} lacks the codebook of model {model_digest}")
        parts = [TokenSegment.open(part, codebook) for part in self._parts(tokens.KIND, model_digest)]
        return StoredTokens(parts, self._deleted, codebook)

    def maxsim(self, model_digest: str, exact: bool = False) -> MaxSimIndex:
        """The MaxSim index of one model, built once; `IndexEmpty` when no live passage has tokens of it."""
        key = (model_digest, exact)
        if key not in self._maxsim:
            self._maxsim[key] = self._built_maxsim(*key)
        return self._maxsim[key]

    def _built_maxsim(self, model_digest: str, exact: bool) -> MaxSimIndex:
        from .maxsim.maxsim_index import MaxSimIndex

        stored = self.stored_tokens(model_digest)
        return MaxSimIndex.build(stored, stored.codebook, self.places, exact)

    def _without(self, kind: str, model_digest: str) -> NDArray[np.int64]:
        ids = self.passage_ids()
        lacking = np.ones(len(ids), np.bool_)
        for segment in self._parts(kind, model_digest):
            lacking &= rows_of(segment.passage_ids, ids) < 0
        return ids[lacking]

    def _models(self, kind: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for segment in self._segments:
            if segment.kind == kind:
                live = np.isin(segment.passage_ids, self._deleted, invert=True)
                counts[segment.model] = counts.get(segment.model, 0) + int(live.sum())
        return {model: count for model, count in counts.items() if count}

    def _parts(self, kind: str, model_digest: str) -> list[Segment]:
        return [part for part in self._segments if (part.kind, part.model) == (kind, model_digest)]
