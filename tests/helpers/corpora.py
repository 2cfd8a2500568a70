"""Small corpora in a store, for the tests of index and retrieval; a plugin that gives them `corpus_of`."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from helpers.token_vectors import put_tokens, vector_of as vector_of
from spanwise.index.analysis import Analyzer
from spanwise.index.schema import FileState
from spanwise.index.snapshot import Snapshot
from spanwise.index.store import Store
from spanwise.index.writer import Writer
from spanwise.types import Document, Passage


class PlainWords(Analyzer):
    """Words as they are: no stems, no stop words."""

    def term(self, word: str) -> str:
        return word

    def question_terms(self, question: str) -> list[str]:
        return self.terms(question)


PLAIN = PlainWords()
Texts = Mapping[str, Sequence[str]]


MODEL = "m"  # the digest of the model that `vector_of` stands for


class Corpus:
    """A store of documents given as lists of passages; each write is one commit."""

    def __init__(self, path: Path) -> None:
        self.store = Store.open(path) if path.exists() else Store.create(path, PLAIN.settings())

    def write(self, put: Texts, remove: Sequence[str] = ()) -> None:
        with self.store.writer() as writer:
            stage(writer, put, remove)
            writer.commit()

    def snapshot(self) -> Snapshot:
        return self.store.snapshot()


def stage(writer: Writer, put: Texts, remove: Sequence[str] = (), vectors: bool = False) -> None:
    """Remove documents, put others, with the vector and the tokens of each passage when asked."""
    for document_id in remove:
        writer.remove(document_id)
    for document_id, texts in put.items():
        document, passages = document_of(document_id, texts)
        state = FileState(len(document.text), 0, document.sha256)
        ids = writer.put(document, passages, [PLAIN.terms(text) for text in texts], state)
        if vectors and ids:
            writer.put_vectors(MODEL, ids, np.stack([vector_of(text) for text in texts]))
            put_tokens(writer, ids, texts)


def document_of(document_id: str, texts: Sequence[str]) -> tuple[Document, list[Passage]]:
    text = "\n".join(texts)
    passages = []
    start = 0
    for part in texts:
        passages.append(Passage(0, document_id, start, start + len(part), part))
        start += len(part) + 1
    return Document(document_id, "text/plain", hashlib.sha256(text.encode()).hexdigest(), "", text), passages


@pytest.fixture
def corpus_of(tmp_path: Path) -> Iterator[Callable[[Texts], Corpus]]:
    """Makes a new store holding these documents, and closes it at the end."""
    with ExitStack() as stores:

        def make(texts: Texts) -> Corpus:
            corpus = Corpus(tmp_path / f"index-{len(list(tmp_path.iterdir()))}")
            stores.enter_context(corpus.store)
            if texts:
                corpus.write(texts)
            return corpus

        yield make
