"""bm25s, with its numba backend and with numpy, set up as its manual says: stop words and a stemmer."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from ..corpus import Corpus
from ..new_process import answer_of_new_process
from ..words import STEMMER, stemmer

SAVED = "saved"
FIRST_SEARCH = """
import json, sys, bm25s, Stemmer
folder, question, k = sys.argv[1:]
index = bm25s.BM25.load(folder)
words = bm25s.tokenize(question, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
print(json.dumps(index.retrieve(words, k=int(k), show_progress=False).documents[0].tolist()))
"""


class Numba:
    """Its fastest backend, compiled before any clock runs."""

    name: ClassVar[str] = "bm25s (numba)"
    comparisons: ClassVar[tuple[str, ...]] = ("bm25-index", "bm25-search", "bm25-kernel")
    needs: ClassVar[tuple[str, ...]] = ("bm25s", "numba", STEMMER)
    backend: ClassVar[str] = "numba"

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the library."""
        self.library: Any = import_module("bm25s")
        self.stemmer = stemmer()
        self.folder = folder

    def build(self, corpus: Corpus) -> None:
        """Tokenize and index in memory."""
        self.index = self.library.BM25(k1=1.2, b=0.75, backend=self.backend)
        self.index.index(self._tokenized(corpus.texts), show_progress=False)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The rows of the best k."""
        most = min(k, self.index.scores["num_docs"])
        found = self.index.retrieve(self._tokenized([question]), k=most, show_progress=False)
        rows: list[int] = found.documents[0].tolist()
        return rows

    def _tokenized(self, texts: list[str]) -> Any:
        return self.library.tokenize(texts, stopwords="en", stemmer=self.stemmer, show_progress=False)


class Numpy(Numba):
    """Its default backend."""

    name: ClassVar[str] = "bm25s (numpy)"
    needs: ClassVar[tuple[str, ...]] = ("bm25s", STEMMER)
    backend: ClassVar[str] = "numpy"


class FirstSearch(Numpy):
    """Loads a saved index in a new process."""

    comparisons: ClassVar[tuple[str, ...]] = ("first-search",)

    def build(self, corpus: Corpus) -> None:
        """Index and save."""
        super().build(corpus)
        self.index.save(str(self.folder / SAVED), show_progress=False)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The rows of the best k, as the new process prints them."""
        most = str(min(k, self.index.scores["num_docs"]))
        saved = str(self.folder / SAVED)
        rows: list[int] = answer_of_new_process("-c", FIRST_SEARCH, saved, question, most)
        return rows


ENGINES = (Numba, Numpy, FirstSearch)
