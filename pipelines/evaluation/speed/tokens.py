"""Token vectors of a corpus, for comparisons of late interaction: computed before any clock runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FILES = ("tokens.npy", "lengths.npy", "question_tokens.npy", "question_lengths.npy")
Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Unit rows of all passages one after another (T, width) and how many each has; of questions likewise."""

    rows: Rows
    lengths: NDArray[np.int64]
    question_rows: Rows
    question_lengths: NDArray[np.int64]

    @property
    def passages(self) -> list[Rows]:
        """The rows of each passage."""
        return np.split(self.rows, np.cumsum(self.lengths)[:-1])

    def of_questions(self, questions: Sequence[str]) -> dict[str, Rows]:
        """The rows of each question, by its text."""
        parts = np.split(self.question_rows, np.cumsum(self.question_lengths)[:-1])
        return dict(zip(questions, parts, strict=True))

    def beginning(self, n_passages: int) -> Tokens:
        """The same without what comes after the first passages; the questions stay."""
        lengths = self.lengths[:n_passages]
        return Tokens(self.rows[: lengths.sum()], lengths, self.question_rows, self.question_lengths)

    def save(self, folder: Path) -> None:
        """Write them into an existing folder."""
        arrays: list[NDArray[Any]]
        arrays = [self.rows, self.lengths, self.question_rows, self.question_lengths]
        for name, array in zip(FILES, arrays, strict=True):
            np.save(folder / name, array, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> Tokens | None:
        """What `save` wrote, mapped; None where there is nothing."""
        if not (folder / FILES[0]).is_file():
            return None
        return cls(*(np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in FILES))
