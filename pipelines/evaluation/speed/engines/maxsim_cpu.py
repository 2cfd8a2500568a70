"""maxsim-cpu: scores of all passages from compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..corpus import Corpus


class MaxSimCpu:
    """Its function for passages of different lengths."""

    name: ClassVar[str] = "maxsim-cpu"
    comparisons: ClassVar[tuple[str, ...]] = ("maxsim-kernel", "maxsim-exact")
    needs: ClassVar[tuple[str, ...]] = ("maxsim-cpu",)

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Load the library; the rows of the questions are given."""
        self.library: Any = import_module("maxsim_cpu")
        self.rows_of = corpus.given_tokens.of_questions(corpus.questions)

    def build(self, corpus: Corpus) -> None:
        """Copy the rows into memory, a matrix a passage."""
        self.passages = [np.array(rows) for rows in corpus.given_tokens.passages]

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k passages."""
        scores = np.asarray(self.library.maxsim_scores_variable(self.rows_of[question], self.passages))
        most = min(k, len(scores))
        best = np.argpartition(-scores, most - 1)[:most]
        numbers: list[int] = best[np.argsort(-scores[best])].tolist()
        return numbers


ENGINES = (MaxSimCpu,)
