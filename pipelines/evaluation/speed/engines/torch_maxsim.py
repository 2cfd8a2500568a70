"""MaxSim by torch alone: what one writes who has the rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from ..corpus import Corpus
from ..tokens import Rows


class TorchMaxSim:
    """One float32 product with all rows, then the maximum of each passage."""

    name: ClassVar[str] = "torch float32"
    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-kernel", "maxsim-exact")
    needs: ClassVar[tuple[str, ...]] = ("torch",)

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the library; the rows of the questions are given."""
        self.torch: Any = import_module("torch")
        self.rows_of = corpus.given_tokens.of_questions(corpus.questions)

    def build(self, corpus: Corpus) -> None:
        """Copy the rows into memory."""
        tokens = corpus.given_tokens
        self.rows = self.torch.tensor(tokens.rows)
        self.lengths = self.torch.tensor(tokens.lengths)

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k passages."""
        return self.ranked(self.rows_of[question], k)

    def ranked(self, query: Rows, k: int) -> list[int]:
        """The best k passages for these rows."""
        similarities = self.rows @ self.torch.tensor(query).T  # (tokens, rows)
        best = self.torch.segment_reduce(similarities, "max", lengths=self.lengths, unsafe=True)
        scores = best.sum(dim=1)  # (passages,)
        numbers: list[int] = self.torch.topk(scores, min(k, len(scores))).indices.tolist()
        return numbers


ENGINES = (TorchMaxSim,)
