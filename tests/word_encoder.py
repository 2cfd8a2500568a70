"""An encoder of tokens that takes no model: the vector of a word depends on the word and the digest alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WIDTH = 16


@lru_cache(maxsize=50_000)
def vector_of_word(word: str, digest: str) -> NDArray[np.float32]:
    """A unit vector that depends on the digest and the word in small letters."""
    draw = np.random.default_rng(list(hashlib.sha256(f"{digest} {word.lower()}".encode()).digest()))
    vector = draw.standard_normal(WIDTH)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class WordEncoder:
    """Tokens are words, up to `window` in a passage; a question has a marker in front. Text without a word is
    one token. `encoded` holds the passages in the order they came.
    """

    width, device = WIDTH, "cpu"

    def __init__(self, digest: str = "words", window: int = 100) -> None:
        self.digest, self.window = digest, window
        self.encoded: list[str] = []

    def encode_questions(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        marker = vector_of_word("[Q]", self.digest)
        return [np.stack([marker, *self._vectors(text)]) for text in texts]

    def encode_passages(self, texts: Sequence[str], report=lambda done: None):
        self.encoded += texts
        rows = [self._vectors(text) for text in texts]
        report(len(texts))
        lengths = np.array([len(each) for each in rows], np.int64)
        return np.array([row for each in rows for row in each], np.float32).reshape(-1, WIDTH), lengths

    def _vectors(self, text: str) -> list[NDArray[np.float32]]:
        return [vector_of_word(text[start:end], self.digest) for start, end in self._words(text)]

    def _words(self, text: str) -> list[tuple[int, int]]:
        found = [match.span() for match in re.finditer(r"\w+", text)]
        return found[: self.window] or [(0, len(text))]
