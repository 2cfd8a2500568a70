"""FAISS's flat index by itself: from a vector to row numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from ..corpus import Corpus


class FaissFlat:
    """Exact inner product in float32."""

    name: ClassVar[str] = "FAISS IndexFlatIP"
    comparisons: ClassVar[tuple[str, ...]] = ("dense-kernel",)
    needs: ClassVar[tuple[str, ...]] = ("faiss-cpu",)

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the library; the vectors of the questions are given."""
        self.library: Any = import_module("faiss")
        self.vector_of = corpus.vector_of_question()

    def build(self, corpus: Corpus) -> None:
        """Add the vectors of the passages."""
        vectors = corpus.given_vectors
        self.index = self.library.IndexFlatIP(vectors.shape[1])
        self.index.add(vectors)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The rows of the best k."""
        _, rows = self.index.search(self.vector_of[question], min(k, self.index.ntotal))
        found: list[int] = rows[0].tolist()
        return found


ENGINES = (FaissFlat,)
