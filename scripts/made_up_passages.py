"""Short passages made up from real paragraphs, to fill a collection with what is hard to tell apart.

Each is a window of a real paragraph in which many words are replaced: by words of the whole corpus, drawn as
often as they occur there, and by new terms from a long tail. So the statistics of words stay those of text,
and every question has near-duplicates of its answer as rivals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

MEAN_WORDS, SPREAD, SHORTEST, LONGEST = 60, 15, 20, 110
REPLACED, NEW = 0.30, 0.03  # shares of the words
N_TYPES, S, Q = 400_000, 1.05, 2.7
CONSONANTS, VOWELS = "bcdfghjklmnprstvwxyz", "aeiou"


def made_up_passages(paragraphs: Sequence[str], n: int, seed: int) -> Iterator[str]:
    """So many passages, the same for the same paragraphs and seed."""
    draw = np.random.default_rng(seed)
    corpus = np.array([word for paragraph in paragraphs for word in paragraph.split()], dtype=object)
    tail = np.cumsum(zipf_mandelbrot(N_TYPES, S, Q))
    for paragraph in draw.integers(len(paragraphs), size=n):
        words = window(paragraphs[paragraph].split(), draw)
        dice = draw.random(len(words))
        drawn = corpus[draw.integers(len(corpus), size=len(words))]
        ranks = np.searchsorted(tail, draw.random(len(words)))
        for i in np.flatnonzero(dice < REPLACED + NEW).tolist():
            words[i] = drawn[i] if dice[i] < REPLACED else new_term(int(ranks[i]))
        yield " ".join(words)


def window(words: list[str], draw: np.random.Generator) -> list[str]:
    """Words that follow each other, about 60 of them, or all when there are not so many."""
    length = int(np.clip(round(draw.normal(MEAN_WORDS, SPREAD)), SHORTEST, LONGEST))
    start = int(draw.integers(max(1, len(words) - length + 1)))
    return words[start : start + length]


def zipf_mandelbrot(n: int, s: float, q: float) -> NDArray[np.float64]:
    """(n,) probabilities of the ranks: p(r) proportional to 1 / (r + q)^s with r from 1.

    Source: Mandelbrot 1953, "An informational theory of the statistical structure of language".
    """
    weights = 1 / (np.arange(1, n + 1) + q) ** s
    return np.asarray(weights / weights.sum())


def new_term(rank: int) -> str:
    """A word of three syllables and more that no language has to have, another one for each rank.

    >>> new_term(0), new_term(399_999)
    ('bababaq', 'zuzukuq')
    """
    syllables = []
    for _ in range(3):
        rank, place = divmod(rank, len(CONSONANTS) * len(VOWELS))
        consonant, vowel = divmod(place, len(VOWELS))
        syllables.append(CONSONANTS[consonant] + VOWELS[vowel])
    return "".join(syllables) + "q"
