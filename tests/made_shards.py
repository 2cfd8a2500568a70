"""Generated notes, and an encoder that makes the vector of a text from its words."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from word_encoder import WordEncoder

WORDS = [
    f"{a}{b}" for a in "mill weir tram stone river bridge owl lamp".split() for b in ("", "s", "er", "ing")
]
RARE = [f"term{n}" for n in range(3_000)]


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


def write_notes(folder: Path, n_documents: int, n_words: int, seed: int = 7) -> list[str]:
    """Write generated documents, a few of them copies of others; returns 40 questions for them."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    texts = []
    for number in range(n_documents):
        words = [draw.choice(WORDS if draw.random() < 0.4 else RARE) for _ in range(n_words)]
        text = draw.choice(texts) if number % 20 == 19 else f"# Note {number}\n\n{' '.join(words)}.\n"
        texts.append(text)
        (folder / f"n{number:04}.md").write_text(text, encoding="utf-8")
    return [" ".join(draw.sample(WORDS, 2) + draw.sample(RARE, 3)) for _ in range(40)]
