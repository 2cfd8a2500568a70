"""Mines negatives for a question: highly ranked passages that do not answer it, and some random ones.

A hard negative ranks high, contains none of the answers and does not nearly repeat a positive passage, which
may well answer the question in other words (a false negative). Two texts are compared by their word 3-grams:

    jaccard(x, y) = |S(x) & S(y)| / |S(x) | S(y)|          S(x): the set of word 3-grams of x

Source: Karpukhin et al. 2020, section 3.2 (BM25 negatives without the answer, and random ones); Broder, "On
the resemblance and containment of documents", 1997 (Jaccard similarity of shingles).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..near_duplicates import Shingle, shingles


@dataclass(frozen=True, slots=True)
class MiningConfig:
    """`hard` negatives a question, from the ranking down to `depth`, and `easy` ones at random.

    A passage with a Jaccard similarity of `similar` to the positive one is no negative.
    """

    hard: int = 12
    easy: int = 2
    depth: int = 50
    similar: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        """ValueError for numbers that mine nothing."""
        if self.hard < 0 or self.easy < 0 or self.hard + self.easy < 1 or self.depth < 1:
            raise ValueError(f"{self.hard} hard and {self.easy} easy negatives to depth {self.depth}")
        if not 0 < self.similar <= 1:
            raise ValueError(f"similar must be above 0 and at most 1, not {self.similar}")


def mine_negatives(
    positive: str,
    ranking: Sequence[str],
    others: Sequence[str],
    answers_it: Callable[[str], bool],
    config: MiningConfig,
    rng: random.Random,
) -> tuple[str, ...]:
    """The hard negatives, best ranked first, then the easy ones; fewer where there are no more.

    `ranking` are passages, best first; easy negatives are drawn from `others`. `answers_it` tells whether a
    passage contains an answer.
    """

    def is_negative(passage: str) -> bool:
        return passage != positive and not answers_it(passage) and jaccard(positive, passage) < config.similar

    found: dict[str, None] = {}
    for passage in ranking[: config.depth]:
        if len(found) < config.hard and is_negative(passage):
            found[passage] = None
    wanted = len(found) + config.easy
    for _ in range(20 * config.easy if others else 0):  # any draw may be a positive passage
        if len(found) == wanted:
            break
        drawn = others[rng.randrange(len(others))]
        if drawn not in found and is_negative(drawn):
            found[drawn] = None
    return tuple(found)


def word_shingles(text: str) -> frozenset[Shingle]:
    """The word 3-grams of a text, case and white space aside; a shorter text is one."""
    return shingles(text.casefold().split())


def jaccard(a: str, b: str) -> float:
    """The Jaccard similarity of two texts: 1.0 for the same words, 0.0 for no common 3-gram.

    >>> jaccard("the black cat sat on the mat", "the cat sat on the mat")
    0.5
    """
    first, second = word_shingles(a), word_shingles(b)
    return len(first & second) / len(first | second)


class NearRepeats:
    """Tells whether one of `texts` has a Jaccard similarity of at least `similar` to a text.

    >>> found = NearRepeats(["Who founded the old mill of Varrow?"], 0.6)
    >>> found.like("who founded the old mill of varrow? And when?"), found.like("Who founded the tram?")
    (True, False)
    """

    def __init__(self, texts: Iterable[str], similar: float = 0.8) -> None:
        self.similar = similar
        self._sizes: list[int] = []
        self._having: dict[Shingle, list[int]] = defaultdict(list)  # 3-gram -> numbers of texts
        for number, text in enumerate(dict.fromkeys(texts)):
            grams = word_shingles(text)
            self._sizes.append(len(grams))
            for gram in grams:
                self._having[gram].append(number)

    def like(self, text: str) -> bool:
        """True when one of the texts is that similar."""
        grams = word_shingles(text)
        shared = Counter(number for gram in grams for number in self._having.get(gram, ()))
        return any(
            n >= self.similar * (len(grams) + self._sizes[number] - n) - 1e-9 for number, n in shared.items()
        )
