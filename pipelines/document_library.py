"""A library over documents that are no files, such as those of a data set, each under its own id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from spanwise.types import Document, Passage, ProgressCallback, no_progress

from ..corpora.passages import passages_at, split
from ..corpora.sentences import trimmed
from ..index.analysis import Analyzer
from ..index.rows import FileState, indexed_text
from ..index.store import Store
from ..index.writer import Writer
from .index_settings import MODEL, model_setting
from .library import Library
from .locations import is_index
from .roots import roots_setting
from .sync import PASSAGES_PER_COMMIT

OF = "documents"  # the setting that says which documents an index is made of, and how they are cut


def whole(document: Document) -> list[Passage]:
    """The document as one passage, without white space around it; none when nothing is left."""
    start, end = trimmed(document.text, 0, len(document.text))
    return passages_at(document, [(start, end)]) if start < end else []


PASSAGES: dict[str, Callable[[Document], list[Passage]]] = {"split": split, "whole": whole}


def document_library(
    documents: Sequence[Document],
    index: Path,
    passages: str = "split",
    model: str = "base",
    on_progress: ProgressCallback = no_progress,
) -> Library:
    """A library over these documents, words indexed and vectors not yet; ids must be unique.

    `passages` says what is searched: "split" is as for files, "whole" makes each document one passage. An
    index of the same documents that is there already is gone on with; `ValueError` when it is of others.
    """
    made_of = digest_of(documents, passages)
    store = _store(
        index, {**roots_setting((), index), MODEL: model_setting(model), OF: made_of, **Analyzer().settings()}
    )
    if store.settings.get(OF) != made_of:
        raise ValueError(f"{index} is the index of other documents, or of other passages: name another one")
    library = Library(store)
    library.require_model(model)
    _fill(library, documents, PASSAGES[passages], on_progress)
    return library


def digest_of(documents: Sequence[Document], passages: str) -> str:
    """What names the documents, in their order, and the way they are cut."""
    if passages not in PASSAGES:
        raise ValueError(f"passages must be one of {', '.join(PASSAGES)}, not {passages!r}")
    digest = hashlib.sha256(passages.encode())
    for document in documents:
        digest.update(json.dumps([document.id, document.title, document.text]).encode())
    return digest.hexdigest()


def text_document(name: str, title: str, text: str) -> Document:
    """A document of plain text; a title alone is its text."""
    title, text = (title, text) if text.strip() else ("", title)
    sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Document(name, "text/plain", sha256, title.strip(), text)


def stage(writer: Writer, analyzer: Analyzer, document: Document, passages: Sequence[Passage]) -> int:
    """Put a document that is no file into the next commit; says how many passages it has."""
    terms = [analyzer.terms(indexed_text(passage)) for passage in passages]
    writer.put(document, passages, terms, FileState(len(document.text), 0, document.sha256))
    return len(passages)


def _store(index: Path, settings: dict[str, str]) -> Store:
    return Store.open(index) if is_index(index) else Store.create(index, settings)


def _fill(
    library: Library,
    documents: Sequence[Document],
    cut: Callable[[Document], list[Passage]],
    on_progress: ProgressCallback,
) -> None:
    """Put the documents that are not there yet, committed as it goes on."""
    with library.store.snapshot() as snapshot:
        known = snapshot.files()
    missing = [document for document in documents if document.id not in known]
    if not missing:
        return
    n_staged = 0
    with library.store.writer() as writer:
        for done, document in enumerate(missing, start=1):
            n_staged += stage(writer, library.analyzer, document, cut(document))
            if n_staged >= PASSAGES_PER_COMMIT:
                writer.commit()
                n_staged = 0
            on_progress("documents", done, len(missing))
        writer.commit()
