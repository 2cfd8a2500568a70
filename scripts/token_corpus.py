"""A collection as token vectors in a folder: what the measurements of late interaction start from.

The folder holds tokens.npy (T, width) float16, unit rows of all passages one after another; lengths.npy (n,);
texts.jsonl, one JSON string a passage; questions.jsonl, {"text", "gold"} each, gold being the number of the
passage that answers; questions.npy (rows, width) float32 and question_lengths.npy; exact.npz, when
`exact_token_rankings.py` has made it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TOKENS, LENGTHS, TEXTS = "tokens.npy", "lengths.npy", "texts.jsonl"
QUESTIONS, QUESTION_ROWS, QUESTION_LENGTHS = "questions.jsonl", "questions.npy", "question_lengths.npy"
EXACT = "exact.npz"
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class TokenCorpus:
    """The first `n` passages of a folder, all of them by default; vectors are mapped, not read."""

    folder: Path
    n: int | None = None

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) tokens a passage."""
        lengths: NDArray[np.int64] = np.load(self.folder / LENGTHS)[: self.n]
        return lengths

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(n + 1,) where the tokens of each passage begin, and where the last ones end."""
        return np.concatenate(([0], np.cumsum(self.lengths)))

    @cached_property
    def tokens(self) -> NDArray[np.float16]:
        """(T, width), mapped."""
        tokens: NDArray[np.float16] = np.load(self.folder / TOKENS, mmap_mode="r")[: self.starts[-1]]
        return tokens

    def part(self, first: int, last: int) -> Rows:
        """The vectors of the passages first..last, in float32."""
        return self.tokens[self.starts[first] : self.starts[last]].astype(np.float32)

    @cached_property
    def texts(self) -> list[str]:
        """The passages."""
        with (self.folder / TEXTS).open(encoding="utf-8") as lines:
            return [json.loads(line) for _, line in zip(range(len(self.lengths)), lines, strict=False)]

    @cached_property
    def asked(self) -> list[tuple[str, int]]:
        """The questions that these passages answer, each with the number of its passage."""
        return [each for each in self._all_asked if each[1] < len(self.lengths)]

    @cached_property
    def queries(self) -> list[Rows]:
        """The vectors of each question."""
        ends = np.cumsum(np.load(self.folder / QUESTION_LENGTHS))
        rows = np.split(np.load(self.folder / QUESTION_ROWS), ends[:-1])
        golds = [gold for _, gold in self._all_asked]
        return [each for each, gold in zip(rows, golds, strict=True) if gold < len(self.lengths)]

    @cached_property
    def _all_asked(self) -> list[tuple[str, int]]:
        lines = (self.folder / QUESTIONS).read_text(encoding="utf-8").splitlines()
        return [(record["text"], record["gold"]) for record in map(json.loads, lines)]

    @cached_property
    def exact(self) -> NDArray[np.int64]:
        """(questions, k) the numbers of the best passages by exact float32 MaxSim; of the first questions."""
        with np.load(self.folder / EXACT) as file:
            rows: NDArray[np.int64] = file["rows"]
        return rows
