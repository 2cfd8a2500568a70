"""The public face: a `Library` is an opened index that can be synced, searched and asked.

library = spanwise.open("notes")
library.sync()
answer = library.ask("who founded the mill?")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from spanwise.errors import IndexEmpty, ModelMismatch
from spanwise.types import Answer, Document, Hit, Passage, SyncReport

from ..index.analysis import Analyzer
from ..index.snapshot import Snapshot
from ..index.store import Store
from .locations import existing_folder, index_folder_of, is_index, resolve_index
from .sync import Report, silent, sync_vectors, sync_words

if TYPE_CHECKING:
    from ..models.encoder import TextEncoder
    from ..reader.span_reader import SpanReader
    from ..retrieval.near_duplicates import Nearness
    from ..retrieval.protocol import Retriever
    from .ask import Asker

DEFAULT_RETRIEVER = "hybrid"
ROOT, MODEL = "root", "model"


def open(folder: str | Path, index: str | Path | None = None, model: str | None = None) -> Library:
    """The library of a folder, its index created in `folder/.spanwise` (or at `index`) if there is none.

    `model` names the encoder of the dense vectors: "base", a local folder, or name@revision. Nothing is
    read before `sync`. Raises FolderNotFound, and ModelMismatch for an index made with another model.
    """
    root = existing_folder(Path(folder))
    path = Path(index) if index is not None else index_folder_of(root)
    if is_index(path):
        library = Library(Store.open(path))
        library.require(root, model)
        return library
    settings = {ROOT: str(root), MODEL: model or "base", **Analyzer().settings()}
    return Library(Store.create(path, settings))


def open_index(index: str | Path) -> Library:
    """The library of an existing index, named by its directory or by the folder that holds `.spanwise`."""
    return Library(Store.open(resolve_index(Path(index))))


class Library:
    """An opened index. Models are loaded when first needed; results are of the last committed sync."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def root(self) -> Path:
        """The indexed folder; one that moved together with its `.spanwise` is found where it is now."""
        stored = Path(self.store.settings[ROOT])
        beside = self.store.path.resolve().parent
        return beside if self.store.path.name == ".spanwise" else stored

    @property
    def model(self) -> str:
        """The name of the encoder that the dense vectors are made with."""
        return self.store.settings[MODEL]

    def require(self, root: Path, model: str | None) -> None:
        """Raises ModelMismatch or ValueError when this index is of another model or another folder."""
        if model is not None and model != self.model:
            raise ModelMismatch(
                f"{self.store.path} was made with the model {self.model!r}, not {model!r}; "
                f"make another index with: spanwise index {root} --model {model} --index OTHER"
            )
        if root != self.root:
            raise ValueError(
                f"{self.store.path} is the index of {self.root}, not of {root}: name another --index"
            )

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was made with."""
        return Analyzer.from_settings(self.store.settings)

    @cached_property
    def encoder(self) -> TextEncoder:
        """The encoder of passages and questions."""
        from ..models.encoder import TextEncoder

        return TextEncoder.load(self.model)

    def sync(self, vectors: bool = True, report: Report = silent) -> SyncReport:
        """Makes the index what the folder is now: words first, then the vectors that are missing.

        `vectors=False` leaves dense search as it is. Interrupted, it goes on where it stopped.
        """
        outcome = sync_words(self.store, existing_folder(self.root), self.analyzer, report)
        self._snapshot = None
        if vectors and self.missing_vectors():
            sync_vectors(self.store, self.encoder, report)
            self._snapshot = None
        return outcome

    _snapshot: Snapshot | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The generation that searches look at."""
        if self._snapshot is None:
            self._snapshot = self.store.snapshot()
        return self._snapshot

    def missing_vectors(self) -> int:
        """How many passages have no dense vector yet."""
        have = sum(self.snapshot.vector_models().values())
        return self.snapshot.n_passages - have

    def retriever(self, name: str = DEFAULT_RETRIEVER) -> Retriever:
        """The retriever of that name over the current generation; IndexEmpty without any passage."""
        from ..retrieval.registry import build_retriever

        if not self.snapshot.n_passages:
            raise IndexEmpty(f"{self.store.path} holds no passages; fill it with: spanwise index {self.root}")
        return build_retriever(name, self.snapshot, self.analyzer, lambda: self.encoder)

    def grouping(self, retriever: Retriever, nearness: Nearness | None = None) -> Retriever:
        """That retriever with near-duplicates folded into the best of them; see `Hit.duplicates`."""
        from ..retrieval.near_duplicates import GroupingRetriever

        return GroupingRetriever(retriever, self.analyzer, nearness)

    def search(
        self, question: str, k: int = 10, retriever: str = DEFAULT_RETRIEVER, group: bool = True
    ) -> list[Hit]:
        """The best `k` passages for a question, best first; `group` folds near-duplicates into one hit."""
        return self.search_many([question], k, retriever, group)[0]

    def search_many(
        self, questions: Sequence[str], k: int = 10, retriever: str = DEFAULT_RETRIEVER, group: bool = True
    ) -> list[list[Hit]]:
        """The best `k` passages for each question."""
        asked, ranking = [checked_question(q) for q in questions], self.retriever(retriever)
        return (self.grouping(ranking) if group else ranking).search(asked, checked_k(k))

    def ask(
        self,
        question: str,
        k: int = 20,
        retriever: str = DEFAULT_RETRIEVER,
        reader: str = "builtin",
        alternatives: int = 3,
        threshold: float | None = None,
        group: bool = True,
    ) -> Answer:
        """The answer to a question, or one whose `best` is None; see `Asker.ask` for the arguments.

        With `group` a text that several passages repeat is read once; where figures differ, each is read.
        """
        return self.ask_many([question], k, retriever, reader, alternatives, threshold, group)[0]

    def ask_many(
        self,
        questions: Sequence[str],
        k: int = 20,
        retriever: str = DEFAULT_RETRIEVER,
        reader: str = "builtin",
        alternatives: int = 3,
        threshold: float | None = None,
        group: bool = True,
    ) -> list[Answer]:
        """One answer a question; models are loaded once."""
        asked = [checked_question(q) for q in questions]
        asker = self.asker(retriever, reader, group=group)
        return asker.ask(asked, checked_k(k), alternatives, threshold)

    def asker(
        self,
        retriever: str = DEFAULT_RETRIEVER,
        reader: str = "builtin",
        calibrated: bool = True,
        group: bool = False,
    ) -> Asker:
        """Everything that answering needs, over the current generation."""
        from ..reader.builtin import load_calibration
        from ..retrieval.near_duplicates import TO_READ
        from .ask import Asker

        ranking, loaded = self.retriever(retriever), self._reader(reader)
        return Asker(
            snapshot=self.snapshot,
            postings=self.snapshot.postings(),
            analyzer=self.analyzer,
            retriever=self.grouping(ranking, TO_READ) if group else ranking,
            reader=loaded,
            vectorizer=self.encoder,
            calibration=load_calibration(reader, loaded.digest) if calibrated else None,
        )

    def document(self, document_id: str) -> Document:
        """A document with its stored text."""
        return self.snapshot.document(document_id)

    def passages(self) -> list[Passage]:
        """All passages, by document and place."""
        return self.snapshot.passages(self.snapshot.passage_ids().tolist())

    def status(self) -> Mapping[str, object]:
        """Figures of the index: documents, passages, vectors, generation, model, place."""
        return {
            "index": str(self.store.path),
            "root": str(self.root),
            "generation": self.snapshot.generation,
            "documents": self.snapshot.n_documents,
            "passages": self.snapshot.n_passages,
            "vectors": sum(self.snapshot.vector_models().values()),
            "missing_vectors": self.missing_vectors(),
            "model": self.model,
        }

    def close(self) -> None:
        """Releases the index; the library cannot be used after it."""
        self.store.close()

    def __enter__(self) -> Self:
        """The library itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the library."""
        self.close()

    def _reader(self, name: str) -> SpanReader:
        from ..reader.builtin import load_reader

        if name not in self._readers:
            self._readers[name] = load_reader(name)
        return self._readers[name]

    @cached_property
    def _readers(self) -> dict[str, SpanReader]:
        return {}


def checked_question(question: str) -> str:
    """The question without white space around it; ValueError when nothing is left."""
    if not question.strip():
        raise ValueError('the question is empty: ask something, such as "who founded the mill?"')
    return question.strip()


def checked_k(k: int) -> int:
    """k itself; ValueError when it is below 1."""
    if k < 1:
        raise ValueError(f"k is {k}, expected at least 1")
    return k
