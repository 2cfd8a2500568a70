"""The token vectors of the worked examples of MaxSim, and an encoder that gives them for words.

The examples are of two and three numbers a vector. Here they lie in a space of more: an orthonormal map
changes no inner product, so that the expected scores stay, and widths are those that an index can store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from made_vectors import unit
from numpy.typing import NDArray
from word_encoder import WordEncoder

CAT, DOG, MAT = unit(np.array([[0.2, 0.8, -0.3], [0.1, 0.7, -0.2], [-0.5, 0.1, 0.6]]))
PLANE = {"x": (1, 0), "y": (0, 1), "b": (0.6, 0.8), "c": (0.8, 0.6)}
SPACE = {"cat": CAT, "dog": DOG, "mat": MAT}
EXAMPLES = {  # words of the question, {document: its words}, expected scores
    "L4": ("x y", {"d": "b x"}, {"d": 1.8}),
    "L5": ("x y", {"d": "c"}, {"d": 1.4}),
    "L6": (
        "cat mat",
        {"d1": "dog", "d2": "dog mat", "d3": "mat"},
        {"d1": 0.819691, "d2": 1.992516, "d3": 0.710540},
    ),
}
SIMILARITIES = {"L4": [[0.6, 1], [0.8, 0]]}  # of question rows and document rows


def vectors_of_words(width: int, seed: int = 2) -> dict[str, NDArray[np.float32]]:
    """The vector of each word, (width,) unit."""
    axes = np.linalg.qr(np.random.default_rng(seed).standard_normal((width, width)))[0]
    return {
        word: (np.array(numbers, np.float64) @ axes[: len(numbers)]).astype(np.float32)
        for word, numbers in (PLANE | SPACE).items()
    }


class GoldenEncoder(WordEncoder):
    """The vectors of these words alone, without a marker."""

    def __init__(self, vectors: Mapping[str, NDArray[np.float32]], digest: str = "golden") -> None:
        super().__init__(digest)
        self._of_words = vectors
        self.width = len(next(iter(vectors.values())))

    def encode_questions(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [self.rows(text) for text in texts]

    def encode_passages(self, texts: Sequence[str], report=lambda done: None):
        self.encoded += texts
        rows = [self.rows(text) for text in texts]
        return np.concatenate(rows), np.array([len(each) for each in rows], np.int64)

    def rows(self, text: str) -> NDArray[np.float32]:
        """(tokens, width)."""
        return np.stack([self._of_words[text[start:end]] for start, end in self._words(text)])

    def question_offsets(self, text: str) -> list[tuple[int, int] | None]:
        return list(self._words(text))
