"""The last commit of an index, with everything built to search it.

The last commit is looked up before each use. While it stays the same, its retrievers are used again. Between
two uses no transaction is open, so that an idle library holds up neither writers nor SQLite's log. One thread
searches at a time; the others wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from spanwise.types import AskOptions, Filter, ProgressCallback, SearchOptions, no_progress

from ...index.analysis import Analyzer
from ...index.snapshot import Snapshot
from ...index.store import Store
from ..answering.ask import Answerer
from ..answering.filters import Selection, select
from .loaded_models import DEFAULT_RETRIEVER, WORDS, LoadedModels, default_retriever

if TYPE_CHECKING:
    from ...retrieval.near_duplicates import DuplicateRule
    from ...retrieval.protocol import Ranker, Retriever

Terms = Callable[[str], Sequence[str]]

CACHED_PASSAGES = 4096  # whose terms are kept to find near-duplicates: 12 MB


class IndexView:
    """A commit, its snapshot, and the retrievers over it, each built once."""

    def __init__(
        self, commit: str, snapshot: Snapshot, analyzer: Analyzer, models: LoadedModels, terms_of: Terms
    ) -> None:
        self.commit, self.snapshot, self.analyzer, self.models = commit, snapshot, analyzer, models
        self.is_held = False
        self._terms_of = terms_of
        self._retrievers: dict[tuple[object, ...], Retriever] = {}
        self._selected: tuple[Filter, Selection] | None = None
        self._answerer: tuple[object, Answerer] | None = None

    @cached_property
    def n_encoded(self) -> int:
        """The number of passages with the vectors that the default retriever needs."""
        has_tokens = default_retriever(self.snapshot.settings) == DEFAULT_RETRIEVER
        models = self.snapshot.token_models() if has_tokens else self.snapshot.vector_models()
        return max(models.values(), default=0)

    @cached_property
    def default_retriever(self) -> str:
        """The retriever where none is named: words rank the passages without a vector, if there are any."""
        full = default_retriever(self.snapshot.settings)
        if self.n_encoded == self.snapshot.n_passages:
            return full
        if not self.n_encoded:
            return WORDS
        return f"{WORDS}+{full}" if full == DEFAULT_RETRIEVER else full

    def partial(self, how: SearchOptions) -> str:
        """What a result of these options leaves out, such as "7 of 8 shards"; "" for nothing."""
        n, total = self.n_encoded, self.snapshot.n_passages
        lacking = f"vectors for {n:,} of {total:,} passages; the others are ranked by words"
        found = [self.snapshot.partial, lacking if n < total and not how.retriever else ""]
        return ", ".join(filter(None, found))

    def retriever(
        self,
        how: SearchOptions,
        on_progress: ProgressCallback = no_progress,
        rule: DuplicateRule | None = None,
    ) -> Retriever:
        """The retriever of these options, with re-ranking and deduplication; IndexEmpty without passages."""
        below, reranker = self.models.split(how, self.default_retriever)
        retriever = self._built(below, how.exact)
        if reranker:
            from ...retrieval.reranking import RerankingRetriever

            model = self.models.cross_encoder(reranker)
            retriever = RerankingRetriever(retriever, model, how.rerank_depth, partial(on_progress, "rerank"))
        if how.dedupe:
            from ...retrieval.near_duplicates import DeduplicatingRetriever

            retriever = DeduplicatingRetriever(retriever, self.analyzer, rule, self._terms_of)
        return retriever

    def stages(self, how: SearchOptions) -> list[Ranker]:
        """The single retrievers that the retriever of these options is made of."""
        from ...retrieval.retrievers import stages_of

        below = self.models.split(how, self.default_retriever)[0]
        names = stages_of(below) if isinstance(below, str) else [below]
        return [cast("Ranker", self._built(name, how.exact)) for name in names]

    def answerer(
        self, how: AskOptions, calibrated: bool = True, on_progress: ProgressCallback = no_progress
    ) -> Answerer:
        """Everything that answering needs; `calibrated=False` leaves out the fitted confidence."""
        from ...retrieval.near_duplicates import READING_RULE

        models, key = self.models, (how, calibrated, on_progress)
        on_progress("models", 0, 0)
        if self._answerer is not None and self._answerer[0] == key:
            return self._answerer[1]
        retriever, reader = self.retriever(how, on_progress, READING_RULE), models.reader(how.reader)
        calibration = None
        if calibrated and isinstance(how.reader, str):
            calibration = models.calibration(how.reader, reader.digest, retriever.name)
        answerer = Answerer(
            snapshot=self.snapshot,
            postings=self.snapshot.postings(),
            analyzer=self.analyzer,
            retriever=retriever,
            reader=reader,
            calibration=calibration,
            options=how,
            selection=self.selection(how.where),
            partial=self.partial(how),
            on_progress=on_progress,
        )
        self._answerer = (key, answerer)
        return answerer

    def selection(self, where: Filter | None) -> Selection | None:
        """The documents and passages that a filter selects, None without one; the last result is kept."""
        if where is None:
            return None
        if self._selected is None or self._selected[0] != where:
            self._selected = (where, select(self.snapshot, where))
        return self._selected[1]

    def _built(self, retriever: str | object, exact: bool) -> Retriever:
        from ...retrieval.retrievers import build

        key = (retriever, exact)
        if isinstance(retriever, str) and key in self._retrievers:
            return self._retrievers[key]
        built = build(cast("Any", retriever), self.snapshot, self.analyzer, self.models.encoders(), exact)
        if isinstance(retriever, str):
            self._retrievers[key] = built
        return built

    def hold(self) -> Snapshot:
        """The snapshot, which stays readable from now on, until nobody refers to it."""
        self.is_held = True
        return self.snapshot

    def reopen(self) -> bool:
        """Begin to read again; False when something else was committed."""
        return self.is_held or self.snapshot.reopen()

    def end_transaction(self) -> None:
        """Release SQLite's log, unless the snapshot is held."""
        if not self.is_held:
            self.snapshot.end_transaction()

    def close(self) -> None:
        """Close the snapshot, unless it is held."""
        if not self.is_held:
            self.snapshot.close()


class Views:
    """The current view of a store."""

    def __init__(self, store: Store, models: LoadedModels) -> None:
        self._store, self._models = store, models
        self._view: IndexView | None = None
        self._lock = RLock()
        self._depth = 0
        self._terms_of = lru_cache(CACHED_PASSAGES)(lambda text: self.analyzer.terms(text))

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was made with, which no commit changes."""
        return Analyzer.from_settings(self._store.settings)

    @contextmanager
    def current(self) -> Iterator[IndexView]:
        """The view of the last commit; nobody else can use it meanwhile, so be brief."""
        with self._lock:
            self._store.check_open()
            if self._view is None or self._depth == 0:
                self._view = self._reopened()
            self._depth += 1
            try:
                yield self._view
            finally:
                self._depth -= 1
                if self._depth == 0 and self._view is not None:
                    self._view.end_transaction()

    def close(self) -> None:
        """Drop the view; held snapshots stay open."""
        with self._lock:
            if self._view is not None:
                self._view.close()
                self._view = None

    def _reopened(self) -> IndexView:
        commit = self._store.commit_digest()
        view, self._view = self._view, None
        if view is not None:
            if view.commit == commit and view.reopen():
                return view
            view.close()
        while True:  # until the snapshot is of the commit that was looked up
            commit = self._store.commit_digest()
            snapshot = self._store.snapshot()
            if self._store.commit_digest() == commit:
                return IndexView(commit, snapshot, self.analyzer, self._models, self._terms_of)
            snapshot.close()
