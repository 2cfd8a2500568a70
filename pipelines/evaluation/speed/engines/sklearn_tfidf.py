"""TF-IDF vectors of scikit-learn, compared by a product of sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..corpus import Corpus
from ..words import STEMMER, Words


class SklearnTfidf:
    """`TfidfVectorizer` with logarithmic tf; unit rows, so that their product is the cosine."""

    name: ClassVar[str] = "scikit-learn"
    comparisons: ClassVar[tuple[str, ...]] = ("tfidf-search",)
    needs: ClassVar[tuple[str, ...]] = ("scikit-learn", STEMMER)

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the library."""
        self.library: Any = import_module("sklearn.feature_extraction.text")
        self.words = Words()

    def build(self, corpus: Corpus) -> None:
        """Fit on the passages and keep their vectors."""
        self.vectorizer = self.library.TfidfVectorizer(analyzer=self.words, sublinear_tf=True)
        self.vectors = self.vectorizer.fit_transform(corpus.texts)  # (passages, words), CSR

    def search(self, question: str, k: int) -> Sequence[int]:
        """The rows of the best k."""
        scores = (self.vectors @ self.vectorizer.transform([question]).T).toarray()[:, 0]  # (passages,)
        most = min(k, len(scores))
        best = np.argpartition(-scores, most - 1)[:most]
        rows: list[int] = best[np.argsort(-scores[best])].tolist()
        return rows


ENGINES = (SklearnTfidf,)
