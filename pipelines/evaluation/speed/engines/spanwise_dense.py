"""Our dense search, through the library and its retriever, and its two hot paths by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from ....library import Library
from ....sync import sync_vectors
from ..corpus import Corpus
from .spanwise_lexical import Bm25, numbers_by_id

GIVEN = "given"  # instead of the digest of a model
NEEDS = ("numpy", "torch", "transformers", "faiss-cpu", "sqlite-utils")


class Encode(Bm25):
    """The encoder of passages and questions."""

    comparisons: ClassVar[tuple[str, ...]] = ("dense-encode",)
    needs: ClassVar[tuple[str, ...]] = NEEDS

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the model."""
        from .....models.encoder import TextEncoder

        super().prepare(corpus, folder)
        self.encoder = TextEncoder.load()

    def build(self, corpus: Corpus) -> None:
        """Encode the passages."""
        self.vectors = self.encoder.encode(corpus.texts)

    def search(self, question: str, k: int) -> Sequence[int]:
        """By every inner product: that is not what is measured here."""
        scores = self.vectors @ self.encoder.encode([question])[0]
        rows: list[int] = np.argsort(-scores)[:k].tolist()
        return rows


class Index(Encode):
    """What `spanwise index` does after reading the files: words and vectors, committed to disk."""

    comparisons: ClassVar[tuple[str, ...]] = ("dense-index",)

    def build(self, corpus: Corpus) -> None:
        """Index the words, encode the passages, store their vectors and open the retriever."""
        library = self.indexed(corpus)
        sync_vectors(library.store, self.encoder)
        self.open(library)

    def open(self, library: Library) -> None:
        """The dense retriever of a library, with the model that is loaded."""
        library.encoder = self.encoder
        self.library, self.retriever = library, library.retriever("dense")

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the passages of the best k hits."""
        return Bm25.search(self, question, k)


class Search(Index):
    """Searches vectors that are given; the question is encoded."""

    comparisons: ClassVar[tuple[str, ...]] = ("dense-search",)

    def build(self, corpus: Corpus) -> None:
        """Store the vectors of the passages and open the retriever."""
        library = self.indexed(corpus)
        store_given(library, self.encoder.digest, corpus, self.numbers)
        self.open(Library(library.store))


class Kernel(Bm25):
    """Our vector index by itself: a vector in, ids of passages out."""

    comparisons: ClassVar[tuple[str, ...]] = ("dense-kernel",)
    needs: ClassVar[tuple[str, ...]] = ("numpy", "faiss-cpu", "sqlite-utils")

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """The vectors of the questions are given, too."""
        super().prepare(corpus, folder)
        self.vector_of = corpus.vector_of_question()

    def build(self, corpus: Corpus) -> None:
        """Store the vectors of the passages and load them."""
        library = self.indexed(corpus)
        store_given(library, GIVEN, corpus, self.numbers)
        self.snapshot = library.store.snapshot()
        self.index = self.snapshot.vectors(GIVEN)
        self.number_of = numbers_by_id(self.snapshot, self.numbers)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k passages."""
        found = self.index.search(self.vector_of[question], k)[0]
        return [self.number_of[passage_id] for passage_id in found.passage_ids.tolist()]


def store_given(library: Library, digest: str, corpus: Corpus, numbers: dict[tuple[str, int], int]) -> None:
    """Store the vectors of a corpus as those of the model named by the digest."""
    number_of = numbers_by_id(library.snapshot, numbers)
    rows = corpus.given_vectors[list(number_of.values())]
    with library.store.writer() as writer:
        writer.put_vectors(digest, list(number_of), rows)
        writer.commit()


ENGINES = (Encode, Index, Search, Kernel)
