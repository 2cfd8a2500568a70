"""The last commit of an index, with everything built to search it.

The last commit is looked up before each use. While it stays the same, its retrievers are used again. Between
two uses no transaction is open, so an idle library blocks neither writers nor SQLite's log. One thread
searches at a time; the others wait, but not for a model on a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any, cast

from spanwise.errors import DocumentNotFound, QuestionEmpty
from spanwise.types import (
    Answer,
    AnswerCallback,
    AskOptions,
    Document,
    Filter,
    ProgressCallback,
    SearchOptions,
    SearchResult,
    Spelling,
    Turn,
    no_callback,
    no_progress,
)

from ...index.analysis import Analyzer
from ...index.languages import languages_of
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...models.model_files import BUILTIN, FAST
from ...reader.generators.protocol import is_generator
from ...retrieval.near_duplicates import READING_RULE, DeduplicatingRetriever, DuplicateRule
from ...retrieval.retrievers import build, stages_of
from ..answering.ask import Answerer
from ..answering.filters import Selection, select
from ..answering.mentions import answered, mentions
from ..answering.model_answers import MAX_SENTENCES, ModelAnswerer
from ..folders import nearest_ids
from ..understanding.question import Question
from ..understanding.spelling import spelling_of
from .loaded_models import (
    COLBERT,
    DEFAULT_RETRIEVER,
    MODEL,
    RERANK_SUFFIX,
    WORDS,
    LoadedModels,
    default_retriever,
)

if TYPE_CHECKING:
    from ...retrieval.protocol import Ranker, Retriever
    from ..answering.conversation import Context
    from ..answering.table_answers import TableFinder

Terms = Callable[[str], Sequence[str]]

CACHED_PASSAGES = 4096  # whose terms are kept to find near-duplicates: 12 MB


@dataclass(eq=False)
class OpenCommit:
    """A commit, its snapshot, and the retrievers over it, each built once.

    `unlocked` makes the block in which others use the library.
    """

    digest: str
    snapshot: Snapshot
    index_analyzer: Analyzer
    models: LoadedModels
    unlocked: Callable[[], AbstractContextManager[None]] = nullcontext
    is_held: bool = False
    _retrievers: dict[tuple[object, ...], Retriever] = field(default_factory=dict)
    _selected: tuple[Filter, Selection] | None = None
    _answerer: tuple[object, Answerer] | None = None

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer for the languages of the commit."""
        return self.index_analyzer.in_languages(*languages_of(self.snapshot.postings()))

    @cached_property
    def terms_of(self) -> Terms:
        """The terms of a passage; those of recently used ones are kept."""
        return lru_cache(CACHED_PASSAGES)(self.analyzer.terms)

    @cached_property
    def tables(self) -> TableFinder:
        """The tables of the documents."""
        from ..answering.table_answers import TableFinder

        return TableFinder(self.analyzer, self.snapshot.document)

    @cached_property
    def n_encoded(self) -> int:
        """The number of passages with the vectors that the default retriever needs."""
        if default_retriever(self.snapshot.settings) == DEFAULT_RETRIEVER:
            return self.models.n_encoded(COLBERT, self.snapshot.token_models())
        return self.models.n_encoded(MODEL, self.snapshot.vector_models())

    @cached_property
    def default_retriever(self) -> str:
        """The retriever where none is named. Words rank the passages without a vector, if there are any."""
        full = default_retriever(self.snapshot.settings)
        if self.n_encoded == self.snapshot.n_passages:
            return full
        if not self.n_encoded:
            return WORDS
        return f"{WORDS}+{full}" if full == DEFAULT_RETRIEVER else full

    def left_out(self, options: SearchOptions) -> str:
        """What is not searched with these options, such as "7 of 8 shards"; "" for nothing."""
        parts = [self.snapshot.left_out] if self.snapshot.left_out else []
        n_passages = self.snapshot.n_passages
        if self.n_encoded < n_passages and not options.retriever:
            encoded = f"vectors for {self.n_encoded:,} of {n_passages:,} passages"
            parts.append(f"{encoded}; the others are ranked by words")
        return ", ".join(parts)

    def retriever_name(self, options: SearchOptions) -> str:
        """The name of the retriever of these options, with "+rerank" if it re-ranks."""
        below, reranker = self.models.split(options, self.default_retriever)
        name = below if isinstance(below, str) else self._built(below, options.exact).name
        return name + RERANK_SUFFIX if reranker else name

    def retriever(
        self,
        options: SearchOptions,
        on_progress: ProgressCallback = no_progress,
        rule: DuplicateRule | None = None,
    ) -> Retriever:
        """The retriever of these options, with re-ranking, deduplication and the topic of a conversation.

        IndexEmpty without passages.
        """
        below, reranker = self.models.split(options, self.default_retriever)
        retriever = self._built(below, options.exact)
        if reranker:
            from ...retrieval.reranking import RerankingRetriever

            model = self.models.cross_encoder(reranker)
            retriever = RerankingRetriever(retriever, model, options.rerank_depth, on_progress)
        if options.dedupe:
            retriever = DeduplicatingRetriever(retriever, self.analyzer, rule, self.terms_of)
        context = self.context(options.history)
        return context.retriever(retriever) if context else retriever

    def search(
        self, questions: Sequence[str], options: SearchOptions, on_progress: ProgressCallback
    ) -> list[SearchResult]:
        """The hits of each question."""
        spellings = [self.spelling(question, options.history) for question in questions]
        texts = [spelling.text for spelling in spellings]
        selection = self.selection(options.where)
        among = selection.passage_ids if selection else None
        rankings = self.retriever(options, on_progress).search(texts, options.k, among)
        name = self.retriever_name(options)
        scope = selection.scope if selection else None
        left_out = self.left_out(options)
        return [
            SearchResult(tuple(hits), spelling, name, scope, left_out)
            for hits, spelling in zip(rankings, spellings, strict=True)
        ]

    def stages(self, options: SearchOptions) -> list[Ranker]:
        """The single retrievers that the retriever of these options consists of."""
        below, _ = self.models.split(options, self.default_retriever)
        names = stages_of(below) if isinstance(below, str) else [below]
        return [cast("Ranker", self._built(name, options.exact)) for name in names]

    def answerer(
        self, options: AskOptions, calibrated: bool = True, on_progress: ProgressCallback = no_progress
    ) -> Answerer:
        """Everything that answering needs; `calibrated=False` leaves out the fitted confidence."""
        from ...reader.reader_pair import ReaderPair

        on_progress("models", 0, 0)
        if is_generator(options.reader):
            options = replace(options, reader=BUILTIN)
        key = (options, calibrated, on_progress)
        if self._answerer is not None and self._answerer[0] == key:
            return self._answerer[1]
        retriever = self.retriever(options, on_progress, READING_RULE)
        reader = self.models.reader(options.reader)
        calibration = None
        if calibrated and isinstance(options.reader, str):
            calibration = self.models.calibration(options.reader, reader.digest, retriever.name)
        answerer = Answerer(
            snapshot=self.snapshot,
            analyzer=self.analyzer,
            retriever=retriever,
            reader=reader,
            calibration=calibration,
            options=options,
            selection=self.selection(options.where),
            left_out=self.left_out(options),
            tables=self.tables,
            on_progress=on_progress,
        )
        if calibration and calibration.sure is not None and isinstance(reader, ReaderPair):
            alone = self.models.calibration(FAST, reader.small.digest, retriever.name)
            small = replace(answerer, reader=reader.small, calibration=alone)
            answerer = replace(answerer, small=small)
        self._answerer = (key, answerer)
        return answerer

    def asker(
        self,
        options: AskOptions,
        on_progress: ProgressCallback = no_progress,
        on_answer: AnswerCallback = no_callback,
        max_sentences: int = MAX_SENTENCES,
    ) -> Answerer | ModelAnswerer:
        """What answers questions: the built-in reader, and a model after it where that is the reader."""
        built_in = self.answerer(options, on_progress=on_progress)
        if not is_generator(options.reader):
            return built_in
        generator = None
        if not options.model.replay:
            generator = self.models.generator(options.reader, options.base_url)
        return ModelAnswerer(built_in, generator, options, on_answer, max_sentences, self.unlocked)

    def answers(
        self,
        questions: Sequence[str],
        options: AskOptions,
        on_progress: ProgressCallback,
        on_answer: AnswerCallback = no_callback,
    ) -> list[Answer]:
        """One answer per question; a list of documents takes no model."""
        asked = [self.question(question, options.history) for question in questions]
        if all(question.listed_words for question in asked):
            return [self.mentions(question, options.where) for question in asked]
        traces = answered(asked, self.asker(options, on_progress, on_answer))
        return [trace.answer for trace in traces]

    def mentions(
        self, question: Question, where: Filter | None, retriever: Retriever | None = None
    ) -> Answer:
        """The documents that mention the words of a question."""
        return mentions(question, self.snapshot, self.analyzer, self.selection(where), retriever)

    def selection(self, where: Filter | None) -> Selection | None:
        """The documents and passages that a filter selects, None without one; the last result is kept."""
        if where is None:
            return None
        if self._selected is None or self._selected[0] != where:
            self._selected = (where, select(self.snapshot, where))
        return self._selected[1]

    def spelling(self, question: str, history: Sequence[Turn] = ()) -> Spelling:
        """The question as typed, as understood after a conversation, and as searched."""
        context = self.context(history)
        understood = context.understood(question) if context else question
        changed = understood if understood != question else ""
        return spelling_of(question, self.snapshot, self.analyzer, changed)

    def question(self, question: str, history: Sequence[Turn] = ()) -> Question:
        """The question, with its spelling."""
        return Question(self.spelling(question, history), self.snapshot, self.analyzer)

    def context(self, history: Sequence[Turn]) -> Context | None:
        """The context of a conversation; None for one without turns."""
        if not history:
            return None
        from ..answering.conversation import context_of

        return context_of(history, self.snapshot, self.analyzer)

    def _built(self, retriever: str | object, exact: bool) -> Retriever:
        key = (retriever, exact)
        if isinstance(retriever, str) and key in self._retrievers:
            return self._retrievers[key]
        built = build(cast("Any", retriever), self.snapshot, self.analyzer, self.models.encoders(), exact)
        if isinstance(retriever, str):
            self._retrievers[key] = built
        return built

    def hold(self) -> Snapshot:
        """The snapshot, which stays readable until nothing refers to it."""
        self.is_held = True
        return self.snapshot

    def reopen(self) -> bool:
        """Begin to read again; False if there is a new commit."""
        return self.is_held or self.snapshot.reopen()

    def end_transaction(self) -> None:
        """Release SQLite's log, unless the snapshot is held."""
        if not self.is_held:
            self.snapshot.end_transaction()

    def close(self) -> None:
        """Close the snapshot, unless it is held."""
        if not self.is_held:
            self.snapshot.close()


class OpenCommits:
    """The last commit of a store, opened again when there is a new one."""

    def __init__(self, store: Store, models: LoadedModels) -> None:
        self._store = store
        self._models = models
        self._commit: OpenCommit | None = None
        self._lock = RLock()
        self._depth = 0
        self._owner: int | None = None  # the thread in a block of `current`

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer of the index, which no commit changes."""
        return Analyzer.from_settings(self._store.settings)

    @contextmanager
    def current(self) -> Iterator[OpenCommit]:
        """The last commit. Holds the library's lock until the block ends."""
        with self._lock:
            self._store.check_open()
            if self._commit is None or self._depth == 0:
                self._commit = self._reopened()
            self._depth += 1
            self._owner = get_ident()
            try:
                yield self._commit
            finally:
                self._depth -= 1
                self._owner = get_ident() if self._depth else None
                if self._depth == 0 and self._commit is not None:
                    self._commit.end_transaction()

    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """Other threads use the library while this one waits, in a block of `current`; its commit is held."""
        if self._owner != get_ident() or self._commit is None:
            yield
            return
        self._commit.hold()
        depth = self._depth
        self._depth = 0
        self._owner = None
        for _ in range(depth):
            self._lock.release()
        try:
            yield
        finally:
            for _ in range(depth):
                self._lock.acquire()
            self._depth = depth
            self._owner = get_ident()

    def close(self) -> None:
        """Close the commit; held snapshots stay open."""
        with self._lock:
            if self._commit is not None:
                self._commit.close()
                self._commit = None

    def _reopened(self) -> OpenCommit:
        digest = self._store.commit_digest()
        commit = self._commit
        self._commit = None
        if commit is not None:
            if commit.digest == digest and commit.reopen():
                return commit
            commit.close()
        while True:  # until the snapshot is of the commit that was looked up
            digest = self._store.commit_digest()
            snapshot = self._store.snapshot()
            if self._store.commit_digest() == digest:
                return OpenCommit(digest, snapshot, self.analyzer, self._models, self.unlocked)
            snapshot.close()


def document_of(snapshot: Snapshot, document_id: str) -> Document:
    """The document of an id. Raises DocumentNotFound, which names the closest ids."""
    try:
        return snapshot.document(document_id)
    except ValueError:
        nearest = nearest_ids(document_id, snapshot.document_ids())
        raise DocumentNotFound(f"no document has the id {document_id!r}{nearest}") from None


def checked_question(question: str) -> str:
    """The question without white space around it, "?" for a lone surrogate; QuestionEmpty if it is empty."""
    question = question.encode("utf-8", "replace").decode("utf-8")
    if not question.strip():
        raise QuestionEmpty('the question is empty: ask something, such as "who built the weir bridge?"')
    return question.strip()
