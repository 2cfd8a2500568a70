"""Our late interaction, through the library and its retriever, and its hot paths by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .....index import Snapshot
from ....colbert_setting import ColbertSetting
from ....library import Library
from ....token_sync import sync_tokens
from ..corpus import Corpus
from ..tokens import Rows
from .spanwise_lexical import Bm25, numbers_by_id

GIVEN = "given"  # instead of the digest of a model
BUILTIN = "builtin"
NEEDS = ("numpy", "numba", "torch", "sqlite-utils")


class GivenTokens:
    """An encoder of tokens that looks up, by their texts, those of a corpus."""

    device: ClassVar[str] = "cpu"

    def __init__(self, digest: str, corpus: Corpus) -> None:
        self.digest, self.width = digest, corpus.given_tokens.rows.shape[1]
        self._rows = dict(zip(corpus.texts, corpus.given_tokens.passages, strict=True))
        self._of_question = corpus.given_tokens.of_questions(corpus.questions)

    def encode_questions(self, texts: Sequence[str]) -> list[Rows]:
        """The rows of each."""
        return [self._of_question[text] for text in texts]

    def encode_passages(
        self, texts: Sequence[str], report: Callable[[int], None] = lambda done: None
    ) -> tuple[Rows, NDArray[np.int64]]:
        """The rows of all, and how many each has."""
        rows = [self._rows[text] for text in texts]
        return np.concatenate(rows), np.array([len(each) for each in rows])

    def covered(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """As if all were seen."""
        return np.array([len(text) for text in texts], np.int32)

    def question_offsets(self, text: str) -> list[tuple[int, int] | None]:
        """Not known."""
        return [None] * len(self._of_question[text])

    def passage_offsets(self, text: str) -> list[tuple[int, int] | None]:
        """Not known."""
        return [None] * len(self._rows[text])


class Encode(Bm25):
    """The encoder of the tokens of passages."""

    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-encode",)
    needs: ClassVar[tuple[str, ...]] = ("numpy", "torch", "transformers")

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the model."""
        from .....models.token_encoder import load_token_encoder

        super().prepare(corpus, folder)
        self.encoder = load_token_encoder(BUILTIN)

    def build(self, corpus: Corpus) -> None:
        """Encode the passages."""
        self.rows, self.lengths = self.encoder.encode_passages(corpus.texts)

    def search(self, question: str, k: int) -> Sequence[int]:
        """By every similarity: that is not what is measured here."""
        similarities = self.rows @ self.encoder.encode_questions([question])[0].T  # (tokens, rows)
        best = np.maximum.reduceat(similarities, np.cumsum(self.lengths) - self.lengths, axis=0)
        rows: list[int] = np.argsort(-best.sum(axis=1))[:k].tolist()
        return rows


class Search(Encode):
    """Searches tokens that are given, by codes of 4 bits; the question is encoded."""

    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-search",)
    needs: ClassVar[tuple[str, ...]] = (*NEEDS, "transformers")

    def build(self, corpus: Corpus) -> None:
        """Store the tokens of the passages and open the retriever."""
        library = self.indexed(corpus)
        library.use_colbert(BUILTIN)
        store_given(library, self.encoder.digest, corpus)
        self.library, self.retriever = library, library.retriever("colbert")

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the passages of the best k hits."""
        return Bm25.search(self, question, k)


class Kernel(Bm25):
    """Our index of tokens by itself: the rows of a question in, ids of passages out."""

    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-kernel",)
    needs: ClassVar[tuple[str, ...]] = NEEDS
    bits: ClassVar[int] = 4
    is_exact: ClassVar[bool] = False

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """The rows of the questions are given, too."""
        super().prepare(corpus, folder)
        self.rows_of = corpus.given_tokens.of_questions(corpus.questions)

    def build(self, corpus: Corpus) -> None:
        """Store the tokens of the passages and open them."""
        library = self.indexed(corpus)
        store_given(library, GIVEN, corpus, self.bits)
        self.snapshot: Snapshot = library.store.snapshot()
        self.index = self.snapshot.maxsim(GIVEN, exact=self.is_exact)
        self.number_of = numbers_by_id(self.snapshot, self.numbers)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k passages."""
        found = self.index.search([self.rows_of[question]], k)[0]
        return [self.number_of[passage_id] for passage_id in found.passage_ids.tolist()]


class Exact(Kernel):
    """The same by int8 products of all tokens."""

    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-exact",)
    bits: ClassVar[int] = 8
    is_exact: ClassVar[bool] = True


def store_given(library: Library, digest: str, corpus: Corpus, bits: int = 4) -> None:
    """Store the tokens of a corpus as those of the model named by the digest."""
    sync_tokens(library.store, GivenTokens(digest, corpus), ColbertSetting(digest, bits))


ENGINES = (Encode, Search, Kernel, Exact)
