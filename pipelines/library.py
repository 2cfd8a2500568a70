"""The public face: a `Library` is an opened index that can be synced, searched and asked.

library = spanwise.open("notes")
library.sync()
answer = library.ask("who founded the mill?")
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from spanwise.errors import IndexEmpty
from spanwise.types import Answer, Document, Filter, Hit, Passage, Scope, Span

from ..index.analysis import Analyzer
from ..index.store import Store
from .adapt.methods import adapted, undone
from .answer_cache import AnswerCache
from .cache_file import CACHE_NAME, CacheFile
from .default_retriever import DEFAULT_RETRIEVER as DEFAULT_RETRIEVER
from .explaining.alignment import alignment
from .explaining.methods import explain
from .generations import Generation
from .progress import Report, silent
from .questions import checked_k, checked_question
from .reranking import DEPTH, Reranking, reranking_of
from .summarizing.methods import summarize, summary_sentences, written
from .synced_index import SyncedIndex
from .why_not.methods import lost

if TYPE_CHECKING:
    from ..retrieval.encoders import Encoders
    from ..retrieval.near_duplicates import Nearness
    from ..retrieval.protocol import Encoder, Retriever, TokenEncoder
    from .ask import Asker

PASSAGES = 4096  # whose terms are remembered; they are wanted wherever the passage is found, and take 10 MB


class Library(SyncedIndex):
    """An opened index. Models are loaded when first needed; results are of the last commit of any process.

    With `cache`, answers and hits of single questions are kept in the index, and given again as long as
    nothing changed that they depend on; see `answer_cache`. Threads may share it: one computes at a time.
    """

    exact: bool = False
    """Set it to search every vector, also of a collection that is large enough for an approximate index."""
    adapt = adapted
    undo_adapt = undone
    alignment = alignment
    explain = explain
    why_not = lost
    summarize = summarize
    summary_sentences = summary_sentences
    written = written

    def __init__(self, store: Store, cache: bool = False) -> None:
        super().__init__(store, CacheFile(store.path / CACHE_NAME) if cache else None)
        self._answers = AnswerCache(store, self._generations, self._cache)
        self._passage_terms = lru_cache(PASSAGES)(lambda text: self._kept_analyzer.terms(text))

    def gaps(self) -> list[Span]:
        """The parts of documents that the window of an encoder did not reach, by document and place."""
        from .coverage import gaps

        with self.reading() as snapshot:
            return gaps(snapshot)

    def retriever(
        self, name: str | None = None, rerank: str | None = None, rerank_depth: int = DEPTH
    ) -> Retriever:
        """The retriever of that name over the last commit, which it holds; IndexEmpty without any passage.

        With the name of a cross-encoder as `rerank`, see `search`.
        """
        below, reranking = reranking_of(name or self.default_retriever, rerank, rerank_depth)
        with self._generations.last() as generation:
            generation.pin()
            return self._ranking(generation, below, self._encoders(), reranking)

    def grouping(self, retriever: Retriever, nearness: Nearness | None = None) -> Retriever:
        """That retriever with near-duplicates folded into the best of them; see `Hit.duplicates`."""
        from ..retrieval.near_duplicates import GroupingRetriever

        return GroupingRetriever(retriever, self.analyzer, nearness, self._passage_terms)

    def scope(self, where: Filter) -> Scope:
        """How many documents and passages a filter leaves; none is no error.

        `FilterUnknown` for a type or metadata key that no document has, `ValueError` for a wrong pattern or
        date.
        """
        with self._generations.last() as generation:
            return generation.selection(where).scope

    def search(
        self,
        question: str,
        k: int = 10,
        retriever: str | None = None,
        group: bool = True,
        where: Filter | None = None,
        explain: bool = False,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
        report: Report = silent,
    ) -> list[Hit]:
        """The best `k` passages for a question, best first; `group` folds near-duplicates into one hit.

        Without a `retriever` it is the default one of the index. `where` says which documents are searched;
        then too there are `k` hits when so many passages match. With `explain` each hit says which of its
        tokens each token of the question matched: `Hit.alignment`; that takes a retriever with a colbert
        stage. `rerank` names a cross-encoder, which reads the best `rerank_depth` passages together with the
        question and ranks them anew: "builtin", a folder, or name@revision. It takes milliseconds a passage;
        `report` hears of its progress. "bm25+rerank" as the retriever says the same as "bm25" and "builtin".
        """
        given = (k, retriever, group, where, explain, rerank, rerank_depth, report)
        return self.search_many([question], *given)[0]

    def search_many(
        self,
        questions: Sequence[str],
        k: int = 10,
        retriever: str | None = None,
        group: bool = True,
        where: Filter | None = None,
        explain: bool = False,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
        report: Report = silent,
    ) -> list[list[Hit]]:
        """The best `k` passages for each question."""
        asked, k = [checked_question(q) for q in questions], checked_k(k)
        below, reranking = reranking_of(retriever or self.default_retriever, rerank, rerank_depth)

        def compute(generation: Generation) -> list[list[Hit]]:
            ranking = self._ranking(generation, below, self._encoders(remembering=True), reranking, report)
            among = generation.selection(where).passage_ids if where else None
            return (self.grouping(ranking) if group else ranking).search(asked, k, among)

        if explain:
            from .explained import explained

            pool = self.colbert.pool if self.colbert else 1
            return explained(asked, below, pool, self._generations, compute, self._token_encoder)
        call = {"verb": "search", "k": k, "retriever": below, "group": group, "rerank": reranking}
        call |= {"where": where, "exact": self.exact}
        depends = partial(self._models.known_to_search, self.model, self.colbert, below, reranking)
        return self._answers.results(list[Hit], asked, call, depends, compute)[0]

    def ask(
        self,
        question: str,
        k: int = 20,
        retriever: str | None = None,
        reader: str = "builtin",
        alternatives: int = 3,
        threshold: float | None = None,
        group: bool = True,
        where: Filter | None = None,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
        report: Report = silent,
        max_error: float | None = None,
        read_all: bool = False,
    ) -> Answer:
        """The answer to a question, or one whose `best` is None; see `Asker.ask` for the arguments.

        With `group` a text that several passages repeat is read once; where figures differ, each is read.
        `where` says which documents are searched and read; for `rerank` see `search`. With `max_error`, such
        as 0.1, what is declined is chosen so that at most this share of the answers given is wrong, on
        questions like those that the confidence was fitted on; it takes the place of `threshold`.
        `read_all` reads all `k` passages, also where the first would have been enough.
        """
        given = (k, retriever, reader, alternatives, threshold, group, where, rerank, rerank_depth, report)
        return self.ask_many([question], *given, max_error, read_all)[0]

    def ask_many(
        self,
        questions: Sequence[str],
        k: int = 20,
        retriever: str | None = None,
        reader: str = "builtin",
        alternatives: int = 3,
        threshold: float | None = None,
        group: bool = True,
        where: Filter | None = None,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
        report: Report = silent,
        max_error: float | None = None,
        read_all: bool = False,
    ) -> list[Answer]:
        """One answer a question; models are loaded once."""
        asked = [checked_question(q) for q in questions]
        began, k = time.perf_counter(), checked_k(k)
        below, reranking = reranking_of(retriever or self.default_retriever, rerank, rerank_depth)

        def compute(generation: Generation) -> list[Answer]:
            ranking = self._ranking(generation, below, self._encoders(remembering=True), reranking, report)
            asker = self._asker(generation, ranking, reader, True, group, where)
            return asker.ask(asked, k, alternatives, threshold, max_error, read_all)

        call = {"verb": "ask", "k": k, "retriever": below, "group": group, "rerank": reranking}
        call |= {"reader": reader, "alternatives": alternatives, "threshold": threshold}
        call |= {"where": where, "exact": self.exact, "max_error": max_error, "read_all": read_all}
        depends = partial(self._models.known_to_ask, self.model, self.colbert, below, reader, reranking)
        answers, cached = self._answers.results(Answer, asked, call, depends, compute)
        if not cached:
            return answers
        took = {"cache": (time.perf_counter() - began) * 1000}
        return [replace(answer, cached=True, timings_ms=took) for answer in answers]

    def asker(
        self,
        retriever: str | None = None,
        reader: str = "builtin",
        calibrated: bool = True,
        group: bool = False,
        where: Filter | None = None,
        rerank: str | None = None,
        rerank_depth: int = DEPTH,
    ) -> Asker:
        """Everything that answering needs, over what `where` leaves of the last commit, which it holds.

        It remembers nothing.
        """
        below, reranking = reranking_of(retriever or self.default_retriever, rerank, rerank_depth)
        with self._generations.last() as generation:
            generation.pin()
            ranking = self._ranking(generation, below, self._encoders(), reranking)
            return self._asker(generation, ranking, reader, calibrated, group, where)

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

    def close(self) -> None:
        """Releases the index; the library cannot be used after it."""
        self._generations.close()
        if self._cache is not None:
            self._cache.close()
        self.store.close()

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
        report: Report = silent,
    ) -> Retriever:
        if not generation.snapshot.n_passages:
            raise IndexEmpty(f"{self.store.path} holds no passages; fill it with: {self.sync_command}")
        ranking = generation.retriever(name, encoders, self.exact)
        return ranking if reranking is None else self._models.reranked(ranking, reranking, report)

    def _asker(
        self,
        generation: Generation,
        ranking: Retriever,
        reader: str,
        calibrated: bool,
        group: bool,
        where: Filter | None,
    ) -> Asker:
        from ..reader.builtin import load_calibration
        from ..retrieval.near_duplicates import TO_READ
        from .ask import Asker

        loaded = self._models.reader(reader)
        return Asker(
            snapshot=generation.snapshot,
            postings=generation.snapshot.postings(),
            analyzer=generation.analyzer,
            retriever=self.grouping(ranking, TO_READ) if group else ranking,
            reader=loaded,
            vectorizer=self.encoder,
            calibration=load_calibration(reader, loaded.digest, ranking.name) if calibrated else None,
            selection=generation.selection(where) if where else None,
        )

    def _encoders(self, remembering: bool = False) -> Encoders:
        """Both encoders; vectors of single questions are looked up when `remembering`."""
        from ..retrieval.encoders import Encoders

        passages = self._question_encoder if remembering else self._plain_encoder
        return Encoders(passages, self._token_encoder)

    @cached_property
    def _kept_analyzer(self) -> Analyzer:
        """The analyzer, which no commit changes, with the words that it has seen."""
        return self.analyzer

    def _plain_encoder(self) -> Encoder:
        return self.encoder

    def _question_encoder(self) -> Encoder:
        return self._models.question_encoder(self.model)

    def _token_encoder(self) -> TokenEncoder:
        return self.token_encoder
