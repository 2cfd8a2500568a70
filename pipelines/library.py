"""The public face: a `Library` is an opened index that can be synced, searched and asked.

library = spanwise.open("notes")
library.sync()
answer = library.ask("who founded the mill?")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from spanwise.errors import IndexEmpty
from spanwise.types import (
    AskOptions,
    Document,
    Filter,
    Passage,
    ProgressCallback,
    Scope,
    Span,
    no_progress,
)

from ..index.analysis import Analyzer
from ..index.store import Store
from .answer_cache import AnswerCache
from .asking import ask, ask_many
from .cache_file import CACHE_NAME, CacheFile
from .default_retriever import DEFAULT_RETRIEVER as DEFAULT_RETRIEVER
from .explaining.methods import explain
from .generations import Generation
from .reranking import DEPTH, Reranking, reranking_of
from .searching import search, search_many
from .summarize import summarize
from .synced_index import SyncedIndex

if TYPE_CHECKING:
    from ..reader.plugged import Reading
    from ..retrieval.near_duplicates import DuplicateRule
    from ..retrieval.plugged import RetrieverFactory
    from ..retrieval.protocol import Encoder, Encoders, Retriever, TokenEncoder
    from .ask import Asker

PASSAGES = 4096  # whose terms are remembered; they are wanted wherever the passage is found, and take 12 MB


class Library(SyncedIndex):
    """An opened index. Models are loaded when first needed; results are of the last commit of any process.

    With `cache`, answers and hits of single questions are kept in the index, and given again as long as
    nothing changed that they depend on; see `answer_cache`. Threads may share it: one computes at a time.
    """

    search = search
    search_many = search_many
    ask = ask
    ask_many = ask_many
    explain = explain
    summarize = summarize

    def __init__(self, store: Store, cache: bool = False) -> None:
        super().__init__(store, CacheFile(store.path / CACHE_NAME) if cache else None)
        self._answers = AnswerCache(store, self._generations, self._cache)
        self._terms_of = lru_cache(PASSAGES)(self._terms)

    def gaps(self) -> list[Span]:
        """Nothing: goes with the next version."""
        return []

    def retriever(
        self, name: str = "", rerank: str = "", rerank_depth: int = DEPTH, exact: bool = False
    ) -> Retriever:
        """The retriever of that name over the last commit, which it holds; IndexEmpty without any passage.

        With the name of a cross-encoder as `rerank`, see `SearchOptions`.
        """
        below, reranking = reranking_of(name or self.default_retriever, rerank, rerank_depth)
        with self._generations.last() as generation:
            generation.pin()
            return self._ranking(generation, below, self._encoders(), reranking, exact=exact)

    def use_retriever(self, name: str, factory: RetrieverFactory) -> None:
        """Takes this factory for the retriever of that name: "mine", "bm25+mine", … from now on.

        It is called with the passages of a commit, once for each, and makes what searches them; see
        `retrieval.plugged`. What it finds is remembered only if it has a `digest`, a text that names all that
        its rankings depend on. ValueError for a name that is built in.
        """
        self._models.plugged.use_retriever(name, factory)

    def use_reader(self, name: str, reader: Reading) -> None:
        """Takes this object for the reader of that name; see `reader.plugged` for what it has to be.

        Its answers have no confidence, as none was fitted, and are declined when "no answer" scores higher.
        They are remembered only if it has a `digest`. ValueError for a name that is built in.
        """
        self._models.plugged.use_reader(name, reader)

    def grouping(self, retriever: Retriever, nearness: DuplicateRule | None = None) -> Retriever:
        """That retriever with near-duplicates folded into the best of them; see `Hit.duplicates`."""
        from ..retrieval.near_duplicates import DeduplicatingRetriever

        return DeduplicatingRetriever(retriever, self.analyzer, nearness, self._terms_of)

    def scope(self, where: Filter) -> Scope:
        """How many documents and passages a filter leaves; none is no error.

        `FilterUnknown` for a type or metadata key that no document has, `ValueError` for a wrong pattern or
        date.
        """
        with self._generations.last() as generation:
            return generation.selection(where).scope

    def asker(self, options: AskOptions | None = None, *, calibrated: bool = True, **changes: Any) -> Asker:
        """Everything that answering needs, over what `where` leaves of the last commit, which it holds.

        Its answers are not cached. `changes` are fields of `AskOptions`.
        """
        how = replace(options or AskOptions(), **changes)
        below, reranking = reranking_of(how.retriever or self.default_retriever, how.rerank, how.rerank_depth)
        with self._generations.last() as generation:
            generation.pin()
            ranking = self._ranking(generation, below, self._encoders(), reranking, exact=how.exact)
            return self._asker(generation, ranking, how, calibrated)

    def document(self, document_id: str) -> Document:
        """A document with its stored text."""
        with self.reading() as snapshot:
            return snapshot.document(document_id)

    def passages(self) -> list[Passage]:
        """All passages, by document and place."""
        with self.reading() as snapshot:
            return snapshot.passages(snapshot.passage_ids().tolist())

    def status(self) -> Mapping[str, Any]:
        """Figures of the index: folders, documents by format, passages, vectors, what was refused and why."""
        from .status import status_record

        return status_record(self)

    def files(self) -> list[dict[str, Any]]:
        """A record of each file that was met, with what became of it, by document id."""
        from .status import file_records

        return file_records(self)

    def close(self) -> None:
        """Releases the index; using the library after it raises IndexClosed, closing it twice is fine."""
        self.store.close()
        self._generations.close()  # which waits for whoever is computing
        if self._cache is not None:
            self._cache.close()

    @property
    def is_caching(self) -> bool:
        """True when answers are kept."""
        return self._cache is not None

    def clear_cache(self) -> None:
        """Forgets all answers and vectors of questions that were kept in the index, by whomever."""
        with CacheFile(self.store.path / CACHE_NAME) as file:
            file.clear()

    def __enter__(self) -> Self:
        """The library itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the library."""
        self.close()

    def _ranking(
        self,
        generation: Generation,
        name: str,
        encoders: Encoders,
        reranking: Reranking | None = None,
        on_progress: ProgressCallback = no_progress,
        exact: bool = False,
    ) -> Retriever:
        if not generation.snapshot.n_passages:
            raise IndexEmpty(f"{self.store.path} holds no passages; fill it with: {self.sync_command}")
        others = self._models.plugged.retrievers(name)
        ranking = generation.retriever(name, encoders, exact, others)
        return ranking if reranking is None else self._models.reranked(ranking, reranking, on_progress)

    def _asker(
        self,
        generation: Generation,
        ranking: Retriever,
        how: AskOptions,
        calibrated: bool,
    ) -> Asker:
        from ..reader.load import load_calibration
        from ..reader.plugged import PluggedReader
        from ..retrieval.near_duplicates import READING_RULE
        from .ask import Asker

        loaded = self._models.any_reader(how.reader)
        is_fitted = calibrated and not isinstance(loaded, PluggedReader)
        return Asker(
            snapshot=generation.snapshot,
            postings=generation.snapshot.postings(),
            analyzer=generation.analyzer,
            retriever=self.grouping(ranking, READING_RULE) if how.dedupe else ranking,
            reader=loaded,
            vectorizer=self.encoder,
            calibration=load_calibration(how.reader, loaded.digest, ranking.name) if is_fitted else None,
            options=how,
            selection=generation.selection(how.where) if how.where else None,
        )

    def _encoders(self, remembering: bool = False) -> Encoders:
        """Both encoders; vectors of single questions are looked up when `remembering`."""
        from ..retrieval.protocol import Encoders

        passages = self._question_encoder if remembering else self._plain_encoder
        return Encoders(passages, self._token_encoder)

    @cached_property
    def _kept_analyzer(self) -> Analyzer:
        """The analyzer, which no commit changes, with the words that it has seen."""
        return self.analyzer

    def _terms(self, text: str) -> Sequence[str]:
        return self._kept_analyzer.terms(text)

    def _plain_encoder(self) -> Encoder:
        return self.encoder

    def _question_encoder(self) -> Encoder:
        return self._models.question_encoder(self.model)

    def _token_encoder(self) -> TokenEncoder:
        return self.token_encoder
