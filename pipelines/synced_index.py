"""An index kept up with its folders: words, vectors of passages and of tokens, and what lacks them."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from spanwise.errors import IndexEmpty
from spanwise.types import ProgressCallback, SyncReport, no_progress

from ..index.snapshot import Snapshot
from ..index.store import Store
from .cache_file import CacheFile
from .colbert_setting import is_undecided
from .default_retriever import WITHOUT_TOKENS, default_retriever, needs_tokens
from .generations import Generations
from .index_settings import IndexSettings
from .loaded_models import LoadedModels
from .roots import list_roots

if TYPE_CHECKING:
    from ..retrieval.protocol import Encoder, TokenEncoder


class SyncedIndex(IndexSettings):
    """The part of a `Library` that makes and counts what is searched. Models are loaded when first needed."""

    def __init__(self, store: Store, cache: CacheFile | None) -> None:
        super().__init__(store)
        self._generations = Generations(store)
        self._cache = cache
        self._models = LoadedModels(cache)

    @property
    def encoder(self) -> Encoder:
        """The encoder of passages and questions."""
        return self._models.encoder(self.model)

    @encoder.setter
    def encoder(self, encoder: Encoder) -> None:
        self._models.use_encoder(self.model, encoder)

    @property
    def token_encoder(self) -> TokenEncoder:
        """The encoder of tokens; IndexEmpty while the index keeps no token vectors."""
        if self.colbert is None:
            raise IndexEmpty(
                f"no passage of {self.store.path} has token vectors yet; "
                f"make them with: {self.sync_command} --colbert builtin"
            )
        return self._models.token_encoder(self.colbert.name)

    def sync(
        self,
        vectors: bool = True,
        on_progress: ProgressCallback = no_progress,
        workers: int | None = None,
        retry: bool = False,
    ) -> SyncReport:
        """Makes the index what the folder is now: words first, then missing vectors, then those of tokens.

        Both kinds of vectors are made together where their models share a transformer; `vectors=False` leaves
        both as they are. Interrupted, it goes on where it stopped. `workers` processes read files, by default
        one a core and four at most. Files that were refused before are read again when they change, or all of
        them with `retry`.
        """
        from .sync import lacks_vectors, sync_vectors, sync_words

        began = time.monotonic()
        listing = list_roots(self.roots)
        outcome = sync_words(self.store, listing, self.analyzer, on_progress, workers, retry)
        if not vectors:
            return outcome
        if lacks_vectors(self.store, self.model):
            sync_vectors(self.store, self.encoder, on_progress)
        self.store.approximate(self.recall, on_progress=partial(on_progress, "approximate"))
        n_tokens = self.sync_tokens(on_progress)
        return replace(outcome, encoded_tokens=n_tokens, seconds=round(time.monotonic() - began, 3))

    def sync_tokens(self, on_progress: ProgressCallback = no_progress) -> int:
        """Encodes the tokens of the passages that lack them; how many did. None when none are to be kept."""
        from .token_sync import lacks_tokens, sync_tokens

        if self.colbert is None or not lacks_tokens(self.store, self.colbert):
            return 0
        return sync_tokens(self.store, self.token_encoder, self.colbert, on_progress)

    def encode_for(
        self,
        stages: Container[str],
        colbert: str,
        on_progress: ProgressCallback = no_progress,
    ) -> None:
        """Encodes what passages lack of what these stages search by; words must be there.

        ModelMismatch when token vectors are wanted and the index keeps those of another model.
        """
        from .sync import sync_vectors

        if "colbert" in stages:
            self.require_colbert(colbert)
        if "dense" in stages:
            sync_vectors(self.store, self.encoder, on_progress)
        if "colbert" in stages:
            self.sync_tokens(on_progress)

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """The last commit, to look at what it holds. Be brief: nobody else can use this library meanwhile."""
        with self._generations.last() as generation:
            yield generation.snapshot

    @property
    def snapshot(self) -> Snapshot:
        """The last commit, which stays what it is while others write; while you hold it their log grows."""
        with self._generations.last() as generation:
            return generation.pin()

    def missing_vectors(self) -> int:
        """How many passages have no dense vector yet."""
        with self.reading() as snapshot:
            return snapshot.n_passages - max(snapshot.vector_models().values(), default=0)

    def missing_tokens(self) -> int:
        """How many passages have no token vectors yet; 0 when the index keeps none."""
        if self.colbert is None:
            return 0
        with self.reading() as snapshot:
            return snapshot.n_passages - max(snapshot.token_models().values(), default=0)

    @property
    def default_retriever(self) -> str:
        """What searches this index where no retriever is named; it depends on the vectors that there are."""
        return default_retriever(needs_tokens() and self._has_tokens())

    @property
    def default_advice(self) -> str:
        """How an index made before the default retriever needed token vectors gets them; else empty."""
        if not needs_tokens() or not is_undecided(self.store.settings):
            return ""
        return (
            f"this index is searched by {WITHOUT_TOKENS}, as it keeps no token vectors; for better answers "
            f"make them with: {self.sync_command} --colbert builtin (or leave it so: --colbert none)"
        )

    def _has_tokens(self) -> bool:
        if self.colbert is None:
            return False
        with self.reading() as snapshot:
            return bool(snapshot.token_models())
