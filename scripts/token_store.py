"""A collection of `make_token_corpus.py` as an index of this library, made as `spanwise index` makes one.

Only the encoder is another: it looks the token vectors up instead of computing them.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from token_corpus import Rows, TokenCorpus

from spanwise.index import FileState, Store
from spanwise.index.analysis import Analyzer
from spanwise.index.writer import Writer
from spanwise.pipelines.colbert_setting import ColbertSetting
from spanwise.pipelines.token_sync import sync_tokens
from spanwise.types import Document, Passage

MODEL = "given"  # instead of the digest of a model
COMMIT = 16_384  # passages whose words are committed together
TOKEN_KINDS = ("tokens", "codebook")


class GivenEncoder:
    """Finds the vectors of a passage by its text; of equal texts those of the last."""

    digest, device = MODEL, "cpu"

    def __init__(self, corpus: TokenCorpus) -> None:
        self.corpus = corpus
        self.width = int(corpus.tokens.shape[1])
        self.number_of = {text: number for number, text in enumerate(corpus.texts)}
        self.query_of = {
            question: rows for (question, _), rows in zip(corpus.asked, corpus.queries, strict=True)
        }

    def encode_questions(self, texts: Sequence[str]) -> list[Rows]:
        """The vectors of each."""
        return [self.query_of[text] for text in texts]

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> tuple[Rows, NDArray[np.int64]]:
        """The vectors of all, one after another, and how many each has."""
        numbers = [self.number_of[text] for text in texts]
        rows = np.concatenate([self.corpus.part(number, number + 1) for number in numbers])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)  # float16 has rounded them
        report(len(texts))
        return rows, self.corpus.lengths[numbers]

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """As if all were seen."""
        return np.array([len(text) for text in texts], np.int32)


def created(path: Path, corpus: TokenCorpus, bits: int) -> float:
    """The seconds that it took to make the index there, now or in an earlier run."""
    seconds = path.with_name(path.name + ".seconds")
    if not seconds.exists():
        shutil.rmtree(path, ignore_errors=True)
        began = time.perf_counter()
        create(path, corpus, bits)
        seconds.write_text(str(time.perf_counter() - began), encoding="ascii")
    return float(seconds.read_text(encoding="ascii"))


def create(path: Path, corpus: TokenCorpus, bits: int, words: bool = False) -> None:
    """A new index of all passages; their words are indexed only if asked for."""
    with Store.create(path, {}) as store:
        put(store, corpus, range(len(corpus.lengths)), words)
        sync_tokens(store, GivenEncoder(corpus), ColbertSetting(MODEL, bits))


def put(store: Store, corpus: TokenCorpus, numbers: Sequence[int], words: bool = False) -> None:
    """Add passages without token vectors, each a document of its own."""
    analyzer = Analyzer()
    with store.writer() as writer:
        for count, number in enumerate(numbers, start=1):
            text = corpus.texts[number]
            put_one(writer, number, text, analyzer.terms(text) if words else [])
            if count % COMMIT == 0:
                writer.commit()
        writer.commit()


def put_one(writer: Writer, number: int, text: str, terms: list[str]) -> None:
    """Stage the document of a text, which is its only passage; documents are ordered as their numbers."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    document = Document(name_of(number), "text/plain", digest, "", text)
    passage = Passage(0, document.id, 0, len(text), text)
    writer.put(document, [passage], [terms], FileState(len(text), 1, digest))


def name_of(number: int) -> str:
    """The id of the document of a passage.

    >>> name_of(12)
    '0000012.txt'
    """
    return f"{number:07}.txt"


def segment_bytes(path: Path) -> dict[str, int]:
    """The size of the segments by their kind: postings, vectors, tokens, codebook."""
    sizes: dict[str, int] = {}
    with closing(sqlite3.connect(path / "catalog.sqlite")) as catalog:
        for name, kind in catalog.execute("SELECT id, kind FROM segments"):
            sizes[kind] = sizes.get(kind, 0) + folder_bytes(path / "segments" / name)
    return sizes


def token_bytes(path: Path) -> int:
    """The bytes of all that token vectors add to an index."""
    sizes = segment_bytes(path)
    return sum(sizes.get(kind, 0) for kind in TOKEN_KINDS)


def folder_bytes(path: Path) -> int:
    """The size of all files below a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
