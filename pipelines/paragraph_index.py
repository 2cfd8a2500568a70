"""The paragraphs of a SQuAD-format file as a collection: each distinct text one document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from spanwise.types import Document

from ..corpora.passages import split
from ..corpora.squad import Article
from ..index.analysis import Analyzer
from ..index.store import Store
from .document_library import stage
from .folders import roots_setting
from .library import Library
from .models import MODEL, model_setting


def document_id_of(context: str) -> str:
    """The id of a paragraph: identical texts are one document."""
    return hashlib.sha256(context.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def paragraph_library(texts: Iterable[tuple[str, str]], index: Path, model: str = "base") -> Library:
    """A library over paragraphs given as (title, text), words indexed and vectors not yet.

    A title is indexed with its paragraph as a heading is; the empty string is none.
    """
    settings = {**roots_setting((), index), MODEL: model_setting(model), **Analyzer().settings()}
    library = Library(Store.create(index, settings))
    put_paragraphs(library, texts)
    return library


def put_paragraphs(library: Library, texts: Iterable[tuple[str, str]]) -> None:
    """Adds paragraphs given as (title, text), all of them in one commit."""
    with library.store.writer() as writer:
        for context, title in {context: title for title, context in texts}.items():
            document = _document(title, context)
            stage(writer, library.analyzer, document, split(document))
        writer.commit()


def contexts_of(articles: Iterable[Article]) -> list[str]:
    """All paragraphs, in order."""
    return [paragraph.context for article in articles for paragraph in article.paragraphs]


def _document(title: str, context: str) -> Document:
    digest = hashlib.sha256(context.encode("utf-8", "surrogatepass")).hexdigest()
    return Document(document_id_of(context), "text/plain", digest, title, context)
