"""A collection of `make_token_corpus.py` as an index of this library: texts, words and token vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from token_corpus import Rows, TokenCorpus

from spanwise.index import FileState, Store
from spanwise.index.analysis import Analyzer
from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.writer import Writer
from spanwise.types import Document, Passage

MODEL = "given"  # instead of the digest of a model
ADDED = 4096  # passages put at a time
COMMIT = 16_384  # passages a commit
SAMPLE = 400_000  # tokens that a codebook is trained on, at most


def create(path: Path, corpus: TokenCorpus, bits: int, words: bool = False) -> None:
    """A new index of all passages; their words are indexed only if asked for, which takes long."""
    with Store.create(path, {}) as store, store.writer() as writer:
        writer.put_codebook(MODEL, codebook(corpus, bits))
        for first in range(0, len(corpus.lengths), COMMIT):
            add(writer, corpus, range(first, min(first + COMMIT, len(corpus.lengths))), words)
            writer.commit()


def codebook(corpus: TokenCorpus, bits: int, seed: int = 0) -> Codebook:
    """Trained on the tokens of passages drawn by the seed."""
    n = len(corpus.lengths)
    order = np.random.default_rng(seed).permutation(n)
    enough = int(np.searchsorted(np.cumsum(corpus.lengths[order]), SAMPLE)) + 1
    sample = np.concatenate([corpus.part(i, i + 1) for i in np.sort(order[:enough]).tolist()])
    return Codebook.train(sample, len(corpus.tokens), bits, seed)


def add(writer: Writer, corpus: TokenCorpus, numbers: Sequence[int], words: bool = False) -> list[int]:
    """Put passages, each a document of its own, with their token vectors; their ids."""
    analyzer = Analyzer()
    ids: list[int] = []
    for number in numbers:
        document, passage = made(number, corpus.texts[number])
        terms = [analyzer.terms(passage.text)] if words else [[]]
        ids += writer.put(document, [passage], terms, FileState(len(passage.text), 1, document.sha256))
    for first in range(0, len(numbers), ADDED):
        part = numbers[first : first + ADDED]
        writer.put_tokens(MODEL, ids[first : first + ADDED], *vectors(corpus, part))
    return ids


def vectors(corpus: TokenCorpus, numbers: Iterable[int]) -> tuple[Rows, NDArray[np.int64]]:
    """The token vectors of these passages, one after another, and how many each has."""
    rows = [corpus.part(number, number + 1) for number in numbers]
    return np.concatenate(rows), np.array([len(each) for each in rows])


def made(number: int, text: str) -> tuple[Document, Passage]:
    """The document and the only passage of a text; documents are ordered as their numbers are."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    document = Document(name(number), "text/plain", digest, "", text)
    return document, Passage(0, document.id, 0, len(text), text)


def name(number: int) -> str:
    """The id of the document of a passage.

    >>> name(12)
    '0000012.txt'
    """
    return f"{number:07}.txt"


def token_bytes(path: Path) -> int:
    """The bytes of the segments of token vectors, manifests and codebook included."""
    with Store.open(path) as store, store.snapshot() as snapshot:
        folders = [path / "segments" / entry for entry in token_segments(snapshot)]
    return sum(file.stat().st_size for folder in folders for file in folder.iterdir())


def token_segments(snapshot: object) -> list[str]:
    """The names of the segments that hold token vectors or a codebook."""
    raise NotImplementedError
