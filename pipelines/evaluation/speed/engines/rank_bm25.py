"""rank_bm25 and its port to Rust, rank-bm25-rs, which is called in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from ..corpus import Corpus
from ..words import STEMMER, Words


class RankBM25:
    """Scores every passage for every question in Python and numpy."""

    name: ClassVar[str] = "rank_bm25"
    comparisons: ClassVar[tuple[str, ...]] = ("bm25-index", "bm25-search")
    needs: ClassVar[tuple[str, ...]] = ("rank-bm25", STEMMER)
    module: ClassVar[str] = "rank_bm25"

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the library."""
        self.library: Any = import_module(self.module)
        self.words = Words()

    def build(self, corpus: Corpus) -> None:
        """Tokenize and count in memory."""
        self.index = self.library.BM25Okapi([self.words(text) for text in corpus.texts], k1=1.2, b=0.75)
        self.numbers = list(range(len(corpus.passages)))

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k."""
        numbers: list[int] = self.index.get_top_n(self.words(question), self.numbers, n=k)
        return numbers


class RankBM25Rust(RankBM25):
    """The same scores from compiled code."""

    name: ClassVar[str] = "rank-bm25-rs"
    comparisons: ClassVar[tuple[str, ...]] = ("bm25-index", "bm25-search", "bm25-kernel")
    needs: ClassVar[tuple[str, ...]] = ("rank-bm25-rs", STEMMER)
    module: ClassVar[str] = "rank_bm25_rs"


ENGINES = (RankBM25, RankBM25Rust)
