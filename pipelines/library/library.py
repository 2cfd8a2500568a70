"""The public face: a `Library` is an opened index that can be synced, searched and asked.

library = spanwise.open("notes")
library.sync()
answer = library.ask("who founded the mill?")
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from spanwise.errors import ModelMismatch
from spanwise.types import (
    Answer,
    AskOptions,
    Document,
    Filter,
    FilterResult,
    Hit,
    Passage,
    ProgressCallback,
    SearchOptions,
    SentenceCallback,
    Summary,
    SummaryOptions,
    SyncReport,
    no_progress,
)

from ...index.analysis import Analyzer
from ...index.ann import RECALL
from ...index.snapshot import Snapshot
from ...index.store import Store
from ..answering.ask import Answerer, checked_question
from ..answering.filters import select
from ..answering.spelling import Spelling, spelled
from ..folders import Root, confined, list_roots, read_roots, roots_setting, with_folders, without_folders
from .answer_cache import CACHE_NAME, AnswerCache, result_key
from .loaded_models import (
    COLBERT,
    MODEL,
    NEXT,
    NONE,
    LoadedModels,
    ModelKind,
    command,
    model_setting,
)
from .open_commit import IndexView, Views

if TYPE_CHECKING:
    from ...retrieval.protocol import Encoder, Retriever, TokenEncoder
    from ..answering.explain import Explanation
    from ..parsing.sync import Parse

T = TypeVar("T")


class Library:
    """An opened index. Models are loaded when first needed; results are of the last commit of any process.

    With `cache`, answers and hits of single questions are kept in the index, see `pipelines.cache`. Threads
    may share a library: one computes at a time. Changes of settings are commits of their own.
    """

    def __init__(self, store: Store, cache: bool = False) -> None:
        self.store = store
        self._models = LoadedModels(store)
        self._views = Views(store, self._models)
        self._cache = AnswerCache(store.path / CACHE_NAME) if cache else None

    def close(self) -> None:
        """Close the index; using the library after it raises IndexClosed. Idempotent."""
        self.store.close()
        self._views.close()  # which waits for whoever is computing
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> Self:
        """The library itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the library."""
        self.close()

    # Settings

    @property
    def roots(self) -> tuple[Root, ...]:
        """The indexed folders; one that moved together with its `.spanwise` is found where it is now."""
        return read_roots(self.store.settings, self.store.path)

    def add(self, folders: Sequence[Path]) -> None:
        """Add folders; their documents come with the next `sync`."""
        self._keep_roots(with_folders(self.roots, folders))

    def drop(self, folders: Sequence[Path]) -> None:
        """Remove folders, which need not exist any more; their documents go with the next `sync`."""
        self._keep_roots(without_folders(self.roots, folders))

    @property
    def model(self) -> str | None:
        """The name of the encoder of the dense vectors; None when the index keeps none."""
        return self.store.settings[MODEL] or None

    @property
    def default_retriever(self) -> str:
        """The retriever where none is named: "colbert", or "hybrid" without token vectors; see `partial`."""
        with self._views.current() as view:
            return view.default_retriever

    def use_model(self, name: str | None) -> None:
        """Keep dense vectors of this model, or of the same one as before.

        Vectors of another model answer until the next `sync` has encoded all passages anew. Raises
        ModelNotFound or ModelRejected for a model that cannot be used; then nothing changes.
        """
        if name is not None:
            self._use(MODEL, model_setting(name, "encoder"))

    @property
    def colbert(self) -> str | None:
        """The name of the encoder of the token vectors; None when the index keeps none."""
        return self.store.settings.get(COLBERT) or None

    def use_colbert(self, name: str | None) -> None:
        """Keep token vectors of this model, as `use_model` does; None or "none" drops them at once.

        An index that keeps no other vectors then has built-in dense ones after the next `sync`.
        """
        if name in (None, NONE) and self.model is None:
            self.use_model("base")
        self._use(COLBERT, "" if name in (None, NONE) else model_setting(str(name), "token-encoder"))

    @property
    def replaced_models(self) -> list[tuple[str, str]]:
        """The name of each model that the next `sync` replaces, with that of the new one."""
        settings = self.store.settings
        return [(settings[key], new) for key in (MODEL, COLBERT) if (new := settings.get(NEXT + key))]

    @property
    def sync_command(self) -> str:
        """The command that brings this index up to date."""
        return command("index", self.store.path)

    # Models

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was made with."""
        return self._views.analyzer

    @property
    def encoder(self) -> Encoder:
        """The encoder of passages and questions."""
        return self._models.encoder()

    @property
    def token_encoder(self) -> TokenEncoder:
        """The encoder of tokens; IndexEmpty while the index keeps no token vectors."""
        return self._models.token_encoder()

    # Sync

    def sync(
        self,
        vectors: bool = True,
        on_progress: ProgressCallback = no_progress,
        workers: int | None = None,
        retry: bool = False,
        parsers: Mapping[str, Parse] | None = None,
    ) -> SyncReport:
        """Make the index what the folders are now: words first, then missing vectors, then token vectors.

        `vectors=False` leaves the vectors as they are. An interrupted sync resumes where it stopped.
        `workers` processes parse files, by default one a core and four at most. Rejected files are read again
        when they change, or all of them with `retry`. `parsers` are functions by suffix, such as
        {".log": parse}, from the bytes of a file and its id to a `Document`.
        """
        began = time.monotonic()
        report = self._sync_words(on_progress, workers=workers, retry=retry, parsers=parsers)
        n_tokens = self.encode(on_progress) if vectors else 0
        return replace(report, encoded_tokens=n_tokens, seconds=round(time.monotonic() - began, 3))

    def encode(self, on_progress: ProgressCallback = no_progress) -> int:
        """Encode passages without vectors, committing as they come; the number of token-encoded ones."""
        self._encode(("dense",), on_progress)
        self.store.approximate(RECALL, on_progress=partial(on_progress, "approximate"))
        return self._encode(("colbert",), on_progress)

    def encode_for(
        self, stages: Container[str], colbert: str, on_progress: ProgressCallback = no_progress
    ) -> None:
        """Encode what these stages need; ModelMismatch when there are token vectors of another model."""
        if "colbert" in stages and self.colbert is None:
            self.use_colbert(colbert)
        elif "colbert" in stages and self.colbert != model_setting(colbert, "token-encoder"):
            raise ModelMismatch(
                f"the token vectors of {self.store.path} are of {self.colbert!r}, not of {colbert!r}. "
                f"Replace them with: {self.sync_command} --colbert {shlex.quote(colbert)}"
            )
        if "dense" in stages and self.model is None:
            self.use_model("base")
        self._encode(stages, on_progress)

    def missing_vectors(self) -> int:
        """The number of passages without a dense vector, or token vectors if it keeps no dense ones."""
        with self.reading() as snapshot:
            models = snapshot.vector_models() if self.model else snapshot.token_models()
            return snapshot.n_passages - max(models.values(), default=0)

    # Contents

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """The last commit. Be brief: nobody else can use this library meanwhile."""
        with self._views.current() as view:
            yield view.snapshot

    @property
    def snapshot(self) -> Snapshot:
        """The last commit, which stays readable while others write; their log grows while you hold it."""
        with self._views.current() as view:
            return view.hold()

    def document(self, document_id: str) -> Document:
        """A document with its stored text."""
        with self.reading() as snapshot:
            return snapshot.document(document_id)

    def passages(self) -> list[Passage]:
        """All passages, by document and place."""
        with self.reading() as snapshot:
            return snapshot.passages(snapshot.passage_ids().tolist())

    def scope(self, where: Filter) -> FilterResult:
        """The number of documents and passages that a filter selects, which may be 0.

        `FilterUnknown` for a type or metadata key that no document has, `ValueError` for a malformed pattern
        or date.
        """
        with self._views.current() as view:
            return select(view.snapshot, where).scope

    def status(self, check: bool = False) -> Mapping[str, Any]:
        """Figures of the index: folders, documents by format, passages, vectors, rejected files.

        With `check` also the installation: versions, extras, model digests, free disk.
        """
        from .status import status_record

        return status_record(self, check)

    def files(self) -> list[dict[str, Any]]:
        """A record of each file that was found, with its state, by document id."""
        from .status import file_records

        with self.reading() as snapshot:
            return file_records(snapshot)

    @property
    def is_caching(self) -> bool:
        """Whether answers are cached."""
        return self._cache is not None

    def partial(self, options: SearchOptions | None = None, **changes: Any) -> str:
        """What a search leaves out, such as "7 of 8 shards" or passages without a vector; "" for nothing."""
        with self._views.current() as view:
            return view.partial(replace(options or SearchOptions(), **changes))

    def model_digest(self, kind: ModelKind, name: str) -> str:
        """The digest of a model: kind is "encoder", "token-encoder", "cross-encoder" or "reader"."""
        return self._models.digest(kind, name)

    # Questions

    def search(
        self,
        question: str,
        options: SearchOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        **changes: Any,
    ) -> list[Hit]:
        """The best `k` passages for a question, best first; `changes` are fields of `SearchOptions`."""
        return self.search_many([question], options, on_progress=on_progress, **changes)[0]

    def search_many(
        self,
        questions: Sequence[str],
        options: SearchOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        **changes: Any,
    ) -> list[list[Hit]]:
        """The best `k` passages for each question."""
        how = replace(options or SearchOptions(), **changes)
        checked = [self.spelled(question).text for question in questions]

        def compute(view: IndexView) -> list[list[Hit]]:
            selection = view.selection(how.where)
            among = selection.passage_ids if selection else None
            return view.retriever(how, on_progress).search(checked, how.k, among)

        return self._cached(list[Hit], checked, how, compute)[0]

    def spelled(self, question: str) -> Spelling:
        """The question as it is searched, with misspelled words replaced by those of the documents."""
        with self._views.current() as view:
            return spelled(checked_question(question), view.snapshot.postings(), view.snapshot, self.analyzer)

    def ask(
        self,
        question: str,
        options: AskOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        **changes: Any,
    ) -> Answer:
        """The answer to a question, or one whose `best` is None; `changes` are fields of `AskOptions`."""
        return self.ask_many([question], options, on_progress=on_progress, **changes)[0]

    def ask_many(
        self,
        questions: Sequence[str],
        options: AskOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        **changes: Any,
    ) -> list[Answer]:
        """One answer a question; several questions are computed together."""
        how = replace(options or AskOptions(), **changes)
        checked, began = [checked_question(question) for question in questions], time.perf_counter()

        def compute(view: IndexView) -> list[Answer]:
            return view.answerer(how, on_progress=on_progress).answer(checked)

        answers, is_cached = self._cached(Answer, checked, how, compute)
        if not is_cached:
            return answers
        took = {"cache": (time.perf_counter() - began) * 1000}
        return [replace(answer, cached=True, timings_ms=took) for answer in answers]

    def explain(
        self, question: str, options: AskOptions | None = None, document: str | None = None, **changes: Any
    ) -> Explanation:
        """The answer with its evidence and the ranks of its passage; `changes` are fields of `AskOptions`.

        With a `document` (an id, a path, or the end of an id) also the stage at which that document was lost.
        """
        from ..answering.explain import explained

        how = replace(options or AskOptions(), **changes)
        with self._views.current() as view:
            view.hold()
            stages, answerer, checked = view.stages(how), view.answerer(how), checked_question(question)
        return explained(answerer, checked, stages, document, self.roots, self.sync_command)

    def summarize(
        self,
        question: str | None = None,
        options: SummaryOptions | None = None,
        *,
        on_sentence: SentenceCallback | None = None,
        **changes: Any,
    ) -> Summary:
        """A summary in which every sentence is checked and cites the spans that support it.

        Of the best `k` passages for a `question`; without one, an overview of `document` or of all documents
        that `where` selects. `changes` are fields of `SummaryOptions`. A summary without sentences and
        overview is a refusal. `on_sentence` gets each sentence once it is checked, also the dropped ones.
        IndexEmpty without passages, DocumentNotFound for an unknown document, ValueError for both together.
        """
        from ..answering.summarize import Summarizer, summary

        how = replace(options or SummaryOptions(), **changes)
        checked = None if question is None else self.spelled(question)
        with self._views.current() as view:
            view.hold()
            return summary(Summarizer(view, how, on_sentence), checked, self.roots)

    def retriever(self, retriever: str | object = "", **changes: Any) -> Retriever:
        """A retriever over the last commit, which it holds; near-duplicates are not merged.

        `changes` are fields of `SearchOptions`.
        """
        how = replace(SearchOptions(retriever=retriever, dedupe=False), **changes)
        with self._views.current() as view:
            view.hold()
            return view.retriever(how)

    def answerer(
        self, options: AskOptions | None = None, *, calibrated: bool = True, **changes: Any
    ) -> Answerer:
        """Everything that answering needs, over the last commit, which it holds; nothing is cached.

        `changes` are fields of `AskOptions`. `calibrated=False` leaves out the fitted confidence.
        """
        how = replace(options or AskOptions(), **changes)
        with self._views.current() as view:
            view.hold()
            return view.answerer(how, calibrated)

    # Private

    def _cached(
        self, kind: Any, questions: Sequence[str], how: SearchOptions, compute: Callable[[IndexView], list[T]]
    ) -> tuple[list[T], bool]:
        """One result a question, and whether it comes from the cache.

        Several questions are not cached, as the last digits of a vector depend on the texts encoded beside
        it; results of a user's own retriever or reader are not either.
        """
        cache = self._cache
        digests = self._models.digests(how) if cache and len(questions) == 1 else None
        if cache is None or digests is None:
            with self._views.current() as view:
                return compute(view), False
        [question], commit = questions, self.store.commit_digest()
        key = result_key(commit, question, how, digests)
        found = cache.get(key, kind, question, how.where)
        if found is not None:
            return [found], True
        with self._views.current() as view:
            [result] = compute(view)
            is_current = view.commit == commit and self._models.digests(how) == digests
        if is_current:
            cache.put(key, commit, kind, result)
        return [result], False

    def _sync_words(self, on_progress: ProgressCallback, **how: Any) -> SyncReport:
        from ..parsing.sync import sync_words

        listing = confined(list_roots(self.roots), self.store.settings)
        return sync_words(self.store, listing, self.analyzer, on_progress, **how)

    def _encode(self, stages: Container[str], on_progress: ProgressCallback) -> int:
        """Encode the passages without vectors of these stages; returns the number of token-encoded ones."""
        with self.reading() as snapshot:
            n, n_encoded, settings = snapshot.n_passages, 0, self.store.settings
        kinds: tuple[tuple[str, str, ModelKind], ...]
        kinds = ("dense", MODEL, "encoder"), ("colbert", COLBERT, "token-encoder")
        for stage, key, kind in kinds:
            name = settings.get(NEXT + key) or settings.get(key)
            if stage in stages and name:
                digest = self._models.digest(kind, name)
                is_done = not snapshot.partial and self._held(key) == ({digest: n} if n else {})
                if not is_done:
                    n_encoded = self._encode_missing(key, name, digest, on_progress)
                self._set_model(key, {key: name, NEXT + key: ""}, only=digest)
        return n_encoded

    def _encode_missing(self, key: str, name: str, digest: str, on_progress: ProgressCallback) -> int:
        """Encode the passages without vectors of this model; returns their number."""
        from ..parsing.sync import sync_dense, sync_tokens

        if key == MODEL:
            return sync_dense(self.store, self._models.encoder(name), on_progress)
        return sync_tokens(self.store, self._models.token_encoder(name), on_progress)

    def _held(self, key: str) -> Mapping[str, int]:
        """The number of passages with vectors of each model digest."""
        with self.reading() as snapshot:
            return snapshot.vector_models() if key == MODEL else snapshot.token_models()

    def _use(self, key: str, name: str) -> None:
        """Name the model of vectors: for the next sync where those of another one answer until then."""
        if name and self._held(key) and self.store.settings.get(key, "") not in ("", name):
            self._set_model(key, {NEXT + key: name})
        else:
            self._set_model(key, {key: name, NEXT + key: ""}, only=None if name else "")

    def _set_model(self, key: str, settings: Mapping[str, str], only: str | None = None) -> None:
        """Commit these settings, and drop the vectors of all models but the digest `only`, if it is given."""
        now = self.store.settings
        changed = {name: value for name, value in settings.items() if now.get(name, "") != value}
        dropped = set() if only is None else self._held(key).keys() - {only}
        if changed or dropped:
            with self.store.writer() as writer:
                for name, value in changed.items():
                    writer.set(name, value)
                for model in sorted(dropped):
                    writer.drop_vectors(model) if key == MODEL else writer.drop_tokens(model)
                writer.commit()

    def _keep_roots(self, roots: Sequence[Root]) -> None:
        if roots != self.roots:
            with self.store.writer() as writer:
                for key, value in roots_setting(roots, self.store.path).items():
                    writer.set(key, value)
                writer.commit()
