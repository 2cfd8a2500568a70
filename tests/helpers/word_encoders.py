"""Encoders without a model: the vector of a word depends on the word and the digest alone."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from helpers.token_vectors import vector_of

WIDTH = 16


def vector_of_word(word: str, digest: str) -> NDArray[np.float32]:
    """A unit vector drawn from the digest and the lower-case word."""
    return vector_of(f"{digest} {word.lower()}", WIDTH)


class WordEncoder:
    """Encodes each word as a token, up to `window` words in a text; a text without words is one token.

    A question starts with a marker token. `encoded` lists the passages in the order they came.
    """

    width = WIDTH
    device = "cpu"

    def __init__(self, digest: str = "words", window: int = 100) -> None:
        self.digest = digest
        self.window = window
        self.encoded: list[str] = []

    def encode_questions(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        marker = vector_of_word("[Q]", self.digest)
        return [np.stack([marker, *self._vectors(text)]) for text in texts]

    def encode_passages(self, texts: Sequence[str], report=lambda done: None):
        self.encoded += texts
        rows = [self._vectors(text) for text in texts]
        report(len(texts))
        lengths = np.array([len(vectors) for vectors in rows], np.int64)
        return np.concatenate([np.empty((0, WIDTH), np.float32), *rows]), lengths

    def _vectors(self, text: str) -> list[NDArray[np.float32]]:
        words = re.findall(r"\w+", text)[: self.window] or [text]
        return [vector_of_word(word, self.digest) for word in words]


class MeanEncoder(WordEncoder):
    """One vector per text: the mean of the vectors of its words."""

    def encode_questions(self, texts):
        return np.stack([self._mean(text) for text in texts])

    def encode_passages(self, texts, report=lambda done: None):
        report(len(texts))
        return self.encode_questions(texts)

    def _mean(self, text):
        mean = np.mean(self._vectors(text), axis=0, dtype=np.float64)
        return (mean / np.linalg.norm(mean)).astype(np.float32)
