"""The public API: a `Library` is an opened index that can be synced, searched and asked.

library = spanwise.open("notes")
answer = library.ask("who built the weir bridge?")
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from spanwise.errors import ModelMismatch
from spanwise.types import (
    Answer,
    AnswerCallback,
    AskOptions,
    CheckedQuote,
    Document,
    Filter,
    Passage,
    ProgressCallback,
    SearchOptions,
    SearchResult,
    Summary,
    SummaryOptions,
    SyncReport,
    Turn,
    no_callback,
    no_progress,
)

from ...index.analysis import Analyzer
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...index.writer import Writer
from ..folders import Root, confined, list_roots, read_roots, roots_setting, with_folders, without_folders
from .answer_cache import CACHE_NAME, AnswerCache, Result, result_key
from .loaded_models import (
    COLBERT,
    MODEL,
    NEXT,
    NONE,
    VECTORS,
    WORDS,
    LoadedModels,
    command,
    model_setting,
)
from .open_commit import OpenCommit, OpenCommits, checked_question, document_of

if TYPE_CHECKING:
    from ...retrieval.protocol import Encoder, Retriever
    from ..answering.ask import Answerer
    from ..answering.conversation import Conversation
    from ..answering.explain import Explanation
    from ..answering.model_answers import ModelAnswerer
    from ..parsing.sync import Parse


class Library:
    """An opened index. Models are loaded when first needed; results are of the last commit of any process.

    With `cache`, answers and hits of single questions are stored in the index, see `answer_cache`. Threads
    may share a library: one computes at a time. Each change of a setting is a commit.
    """

    def __init__(self, store: Store, cache: bool = False) -> None:
        self.store = store
        self._models = LoadedModels(store)
        self._commits = OpenCommits(store, self._models)
        self._cache = AnswerCache(store.path / CACHE_NAME) if cache else None

    def close(self) -> None:
        """Close the index; using the library after it raises IndexClosed. Idempotent."""
        self.store.close()
        self._commits.close()  # waits for a thread that is computing
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> Self:
        """The library itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the library."""
        self.close()

    @property
    def roots(self) -> tuple[Root, ...]:
        """The indexed folders. A folder that was moved with its `.spanwise` has its new path."""
        return read_roots(self.store.settings, self.store.path)

    def add(self, folders: Sequence[Path]) -> None:
        """Add folders; their documents are added by the next `sync`."""
        self._keep_roots(with_folders(self.roots, folders))

    def drop(self, folders: Sequence[Path]) -> None:
        """Remove folders, which need not exist; their documents are deleted by the next `sync`."""
        self._keep_roots(without_folders(self.roots, folders))

    @property
    def model(self) -> str | None:
        """The name of the encoder of the dense vectors; None for an index without them."""
        return self.store.settings[MODEL] or None

    @property
    def default_retriever(self) -> str:
        """The retriever where none is named: "colbert", or "hybrid" without token vectors; see `left_out`."""
        with self._commits.current() as commit:
            return commit.default_retriever

    def use_model(self, name: str | None) -> None:
        """Store dense vectors of this model; None changes nothing.

        Vectors of the old model are searched until the next `sync` has encoded all passages anew. Raises
        ModelNotFound or ModelRejected for a model that cannot be used; then nothing changes.
        """
        if name is not None:
            self._use(MODEL, model_setting(name, "encoder"))

    @property
    def colbert(self) -> str | None:
        """The name of the encoder of the token vectors; None for an index without them."""
        return self.store.settings.get(COLBERT) or None

    def use_colbert(self, name: str | None) -> None:
        """Store token vectors of this model, as `use_model` does; None or "none" deletes them at once.

        An index without other vectors then gets built-in dense ones in the next `sync`.
        """
        if name in (None, NONE) and self.model is None:
            self.use_model("base")
        self._use(COLBERT, "" if name in (None, NONE) else model_setting(str(name), "token-encoder"))

    @property
    def replaced_models(self) -> list[tuple[str, str]]:
        """The name of each model that the next `sync` replaces, with that of the new model."""
        settings = self.store.settings
        return [(settings[key], settings[NEXT + key]) for key in (MODEL, COLBERT) if settings.get(NEXT + key)]

    @property
    def sync_command(self) -> str:
        """The command that brings this index up to date."""
        return command("index", self.store.path)

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer of the index."""
        return self._commits.analyzer

    @property
    def encoder(self) -> Encoder:
        """The encoder of passages and questions."""
        return self._models.encoder()

    def sync(
        self,
        vectors: bool = True,
        on_progress: ProgressCallback = no_progress,
        workers: int | None = None,
        retry: bool = False,
        parsers: Mapping[str, Parse] | None = None,
        accept_deletions: bool = False,
        ocr: bool = True,
    ) -> SyncReport:
        """Update the index to its folders: words, then scanned pages, then missing vectors, dense ones first.

        `vectors=False` and `ocr=False` leave these as they are. An interrupted sync resumes where it stopped.
        `workers` processes parse files, by default one per core, at most four. Rejected files are read again
        when they change, or all of them with `retry`. `parsers` are functions by suffix, such as
        {".log": parse}, from the bytes of a file and its id to a `Document`. Documents below a folder that
        is missing, empty, unreadable or on another device are kept unless `accept_deletions`.
        """
        began = time.monotonic()
        options: dict[str, Any] = {"workers": workers, "retry": retry, "parsers": parsers, "ocr": ocr}
        report = self._sync_words(on_progress, accept_deletions=accept_deletions, **options)
        n_tokens = self.encode(on_progress) if vectors else 0
        return replace(report, encoded_tokens=n_tokens, seconds=round(time.monotonic() - began, 3))

    def encode(self, on_progress: ProgressCallback = no_progress) -> int:
        """Encode the passages without vectors; returns the number with new token vectors."""
        self._encode(("dense",), on_progress)
        self.store.approximate(on_progress=on_progress)
        return self._encode(("colbert",), on_progress)

    def encode_for(
        self, stages: Container[str], colbert: str, on_progress: ProgressCallback = no_progress
    ) -> None:
        """Encode the vectors that these stages need; ModelMismatch for token vectors of another model."""
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
        """The number of passages without a dense vector, or token vector in an index without dense ones."""
        from .status import missing_vectors

        with self.reading() as snapshot:
            return missing_vectors(snapshot, self._models, self.model)

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """The last commit. Holds the library's lock until the block ends."""
        with self._commits.current() as commit:
            yield commit.snapshot

    @property
    def snapshot(self) -> Snapshot:
        """The last commit, readable while others write. SQLite's log grows until you drop it."""
        with self._commits.current() as commit:
            return commit.hold()

    def document(self, document_id: str) -> Document:
        """A document with its stored text; DocumentNotFound for an id that no document has."""
        with self.reading() as snapshot:
            return document_of(snapshot, document_id)

    def passages(self) -> list[Passage]:
        """All passages, by document and place."""
        with self.reading() as snapshot:
            return snapshot.passages(snapshot.passage_ids().tolist())

    def status(self, check: bool = False) -> Mapping[str, Any]:
        """Figures of the index: folders, documents by format, passages, vectors, rejected files.

        With `check` also the installation: versions, extras, model digests, free disk.
        """
        from .status import installation_record, status_record

        is_caching = self._cache is not None
        with self.reading() as snapshot:
            record = status_record(snapshot, self.store, self._models, self.roots, is_caching)
        return record | ({"check": installation_record(self.store, self._models)} if check else {})

    def files(self) -> list[dict[str, Any]]:
        """A record of each file that the last sync saw, with its state, by document id."""
        from .status import file_records

        with self.reading() as snapshot:
            return file_records(snapshot)

    def left_out(self, options: SearchOptions | None = None, **changes: Any) -> str:
        """What is not searched, such as "7 of 8 shards" or passages without a vector; "" for nothing."""
        with self._commits.current() as commit:
            return commit.left_out(replace(options or SearchOptions(), **changes))

    def search(
        self,
        question: str,
        options: SearchOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        **changes: Any,
    ) -> SearchResult:
        """The best `k` passages for a question, best first; `changes` are fields of `SearchOptions`."""
        return self.search_many([question], options, on_progress=on_progress, **changes)[0]

    def search_many(
        self,
        questions: Sequence[str],
        options: SearchOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        **changes: Any,
    ) -> list[SearchResult]:
        """The best `k` passages for each question; several questions are computed together."""
        options = replace(options or SearchOptions(), **changes)
        questions = [checked_question(question) for question in questions]
        compute = partial(OpenCommit.search, questions=questions, options=options, on_progress=on_progress)
        return self._cached(SearchResult, questions, options, compute)

    def ask(
        self,
        question: str,
        options: AskOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        on_answer: AnswerCallback = no_callback,
        **changes: Any,
    ) -> Answer:
        """The answer to a question, see `Answer.outcome`; `changes` are fields of `AskOptions`.

        `on_answer` gets the answer of the built-in reader, before a model answers.
        """
        return self.ask_many([question], options, on_progress=on_progress, on_answer=on_answer, **changes)[0]

    def ask_many(
        self,
        questions: Sequence[str],
        options: AskOptions | None = None,
        *,
        on_progress: ProgressCallback = no_progress,
        on_answer: AnswerCallback = no_callback,
        **changes: Any,
    ) -> list[Answer]:
        """One answer per question; several questions are computed together."""
        options = replace(options or AskOptions(), **changes)
        questions = [checked_question(question) for question in questions]
        compute = partial(
            OpenCommit.answers,
            questions=questions,
            options=options,
            on_progress=on_progress,
            on_answer=on_answer,
        )
        return self._cached(Answer, questions, options, compute)

    def conversation(self, history: Sequence[Turn] | str = ()) -> Conversation:
        """Questions that may depend on earlier ones; `history` as in `AskOptions`, or its JSON."""
        from ..answering.conversation import Conversation

        return Conversation(self.ask, history)

    def mentions(self, words: str, where: Filter | None = None) -> Answer:
        """All documents that mention words, in `computed`, and the names of others near in meaning."""
        with self._commits.current() as commit:
            retriever = commit.retriever(SearchOptions(dedupe=False))
            return commit.mentions(commit.question(checked_question(words)), where, retriever)

    def check(self, text: str) -> list[CheckedQuote]:
        """The quotes in a written text, each with its place in the documents, or without one."""
        from ..answering.quotes import check_quotes

        with self._commits.current() as commit:
            retriever = commit.retriever(SearchOptions(retriever=WORDS, dedupe=False))
            return check_quotes(text, retriever, commit.snapshot.document)

    def explain(
        self, question: str, options: AskOptions | None = None, document: str | None = None, **changes: Any
    ) -> Explanation:
        """The answer with its evidence and the ranks of its passage; `changes` are fields of `AskOptions`.

        With a `document` (an id, a path, or the end of an id) also the stage at which that document was lost.
        """
        from ..answering.explain import explained

        options = replace(options or AskOptions(), **changes)
        with self._commits.current() as commit:
            asked = commit.question(checked_question(question), options.history)
            stages = commit.stages(options)
            answerer = commit.answerer(options)
            return explained(answerer, asked, stages, document, self.roots, self.sync_command)

    def summarize(
        self,
        question: str | None = None,
        options: SummaryOptions | None = None,
        **changes: Any,
    ) -> Summary:
        """A summary in which every sentence is checked and cites the spans that support it.

        It uses the best `k` passages for a `question`. Without one it is an overview of `document`, or of all
        documents that `where` selects. `changes` are fields of `SummaryOptions`. IndexEmpty without passages,
        DocumentNotFound for an unknown document, ValueError for a question with a document.
        """
        from ..answering.summarize import summary

        options = replace(options or SummaryOptions(), **changes)
        with self._commits.current() as commit:
            typed = None if question is None else checked_question(question)
            spelling = None if typed is None else commit.spelling(typed, options.history)
            commit.hold()
            return summary(commit, options, spelling, self.roots)

    def retriever(self, retriever: str | object = "", **changes: Any) -> Retriever:
        """A retriever over the last commit, which stays readable; near-duplicates are not merged.

        `changes` are fields of `SearchOptions`.
        """
        options = replace(SearchOptions(retriever=retriever, dedupe=False), **changes)
        with self._commits.current() as commit:
            commit.hold()
            return commit.retriever(options)

    def answerer(
        self, options: AskOptions | None = None, *, calibrated: bool = True, **changes: Any
    ) -> Answerer:
        """A reader that proposes spans, with all it needs, over the last commit, which stays readable.

        Nothing is cached. `changes` are fields of `AskOptions`. `calibrated=False` leaves out the fitted
        confidence.
        """
        options = replace(options or AskOptions(), **changes)
        with self._commits.current() as commit:
            commit.hold()
            return commit.answerer(options, calibrated)

    def asker(self, options: AskOptions) -> Answerer | ModelAnswerer:
        """What answers with these options, a model or the built-in reader; see `answerer`."""
        with self._commits.current() as commit:
            commit.hold()
            return commit.asker(options)

    def _cached(
        self,
        kind: type[Result],
        questions: Sequence[str],
        options: SearchOptions,
        compute: Callable[[OpenCommit], list[Result]],
    ) -> list[Result]:
        """The results of some questions: from the cache, or computed with the last commit and cached.

        Several questions are not cached, because the last digits of a vector depend on the texts encoded
        beside it. Results of a user's own retriever or reader are not cached either, nor is one whose commit
        or model changed since the look-up.
        """
        cache = self._cache if len(questions) == 1 else None

        def key_of(commit: str) -> str:
            digests = self._models.digests(options) if cache else None
            return "" if digests is None else result_key(commit, questions[0], options, digests)

        key = key_of(self.store.commit_digest()) if cache else ""
        if cache and key and (cached := cache.get(kind, key, questions[0], options.where)):
            return [cached]
        with self._commits.current() as commit:
            results = compute(commit)
        if cache and key and key == key_of(commit.digest):
            cache.put(key, commit.digest, results[0])
        return results

    def _sync_words(self, on_progress: ProgressCallback, **options: Any) -> SyncReport:
        from ..parsing.ocr import sync_documents

        listing = confined(list_roots(self.roots), self.store.settings)
        return sync_documents(self.store, listing, self.analyzer, on_progress, **options)

    def _encode(self, stages: Container[str], on_progress: ProgressCallback) -> int:
        """Encode the passages without vectors of these stages; returns the number with new token vectors."""
        settings = self.store.settings
        n_encoded = 0
        with self.reading() as snapshot:
            n_passages = snapshot.n_passages
            left_out = snapshot.left_out
        for stage, key, kind in VECTORS:
            name = settings.get(NEXT + key) or settings.get(key)
            if stage in stages and name:
                digest = self._models.digest(kind, name)
                complete = {digest: n_passages} if n_passages else {}
                if left_out or self._n_vectors(key) != complete:
                    n_encoded = self._encode_missing(key, name, digest, on_progress)
                self._set_model(key, {key: name, NEXT + key: ""}, only=digest)
        return n_encoded

    def _encode_missing(self, key: str, name: str, digest: str, on_progress: ProgressCallback) -> int:
        """Encode the passages without vectors of this model; returns their number."""
        from ..parsing.sync import sync_dense, sync_tokens

        if key == MODEL:
            return sync_dense(self.store, self._models.encoder(name), on_progress)
        return sync_tokens(self.store, self._models.token_encoder(name), on_progress)

    def _n_vectors(self, key: str) -> Mapping[str, int]:
        """The number of passages with vectors of each model digest."""
        with self.reading() as snapshot:
            return snapshot.vector_models() if key == MODEL else snapshot.token_models()

    def _use(self, key: str, name: str) -> None:
        """Name the model of vectors; with vectors of another model it is used from the next sync on."""
        if name and self._n_vectors(key) and self.store.settings.get(key, "") not in ("", name):
            self._set_model(key, {NEXT + key: name})
        else:
            self._set_model(key, {key: name, NEXT + key: ""}, only=None if name else "")

    def _set_model(self, key: str, settings: Mapping[str, str], only: str | None = None) -> None:
        """Commit these settings. With a digest `only`, the vectors of all other models are deleted."""
        current = self.store.settings
        changed = {name: value for name, value in settings.items() if current.get(name, "") != value}
        dropped = set() if only is None else self._n_vectors(key).keys() - {only}
        if changed or dropped:

            def apply(writer: Writer) -> None:
                for name, value in changed.items():
                    writer.set(name, value)
                for model in sorted(dropped):
                    writer.drop_vectors(model) if key == MODEL else writer.drop_tokens(model)

            self.store.change(apply)

    def _keep_roots(self, roots: Sequence[Root]) -> None:
        if roots != self.roots:
            [(key, value)] = roots_setting(roots, self.store.path).items()
            self.store.change(lambda writer: writer.set(key, value))
