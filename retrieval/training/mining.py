"""Mining of negatives: highly ranked passages that do not answer a question, and some random ones.

A hard negative ranks high and contains none of the answers. It must not nearly repeat a positive passage: it
might answer the question in other words (a false negative). Two texts are compared by their word 3-grams:

    jaccard(x, y) = |S(x) & S(y)| / |S(x) | S(y)|          S(x): the set of word 3-grams of x

Source: Karpukhin et al. 2020, section 3.2 (BM25 negatives without the answer, and random ones); Broder, "On
the resemblance and containment of documents", 1997 (Jaccard similarity of shingles).
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..near_duplicates import Shingle, shingles


@dataclass(frozen=True, slots=True)
class MiningConfig:
    """The numbers of negatives per question.

    hard: the number from the ranking.
    easy: the number drawn at random.
    depth: hard negatives come from this number of best passages.
    similar: a passage with this Jaccard similarity to the positive one, or a higher one, is not a negative.
    seed: of the draws.
    """

    hard: int = 12
    easy: int = 2
    depth: int = 50
    similar: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        """ValueError for numbers out of range."""
        if self.hard < 0 or self.easy < 0 or self.hard + self.easy < 1 or self.depth < 1:
            raise ValueError(
                f"cannot mine {self.hard} hard and {self.easy} easy negatives to depth {self.depth}: "
                "expected at least one negative and a depth of at least 1"
            )
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
    """The hard negatives, best ranked first, then the easy ones; fewer if there are no more.

    `ranking` are passages, best first. Easy negatives are drawn from `others`. `answers_it` is True for a
    passage with an answer.
    """

    def is_negative(passage: str) -> bool:
        return passage != positive and not answers_it(passage) and jaccard(positive, passage) < config.similar

    negatives: dict[str, None] = {}
    for passage in ranking[: config.depth]:
        if len(negatives) < config.hard and is_negative(passage):
            negatives[passage] = None
    limit = len(negatives) + config.easy
    for _ in range(20 * config.easy if others else 0):  # a draw may be a positive passage
        if len(negatives) == limit:
            break
        drawn = others[rng.randrange(len(others))]
        if drawn not in negatives and is_negative(drawn):
            negatives[drawn] = None
    return tuple(negatives)


def word_shingles(text: str) -> frozenset[Shingle]:
    """The word 3-grams of a text without regard to case; a shorter text is a single shingle."""
    return shingles(text.casefold().split())


def jaccard(a: str, b: str) -> float:
    """The Jaccard similarity of two texts: 1.0 for the same words, 0.0 for no common 3-gram.

    >>> jaccard("the black cat sat on the mat", "the cat sat on the mat")
    0.5
    """
    first = word_shingles(a)
    second = word_shingles(b)
    return len(first & second) / len(first | second)


class NearRepeats:
    """Finds near repeats: texts with a Jaccard similarity of at least `similar` to one of `texts`.

    >>> repeats = NearRepeats(["Who founded the old mill of Varrow?"], 0.6)
    >>> repeats.like("who founded the old mill of varrow? And when?"), repeats.like("Who founded the tram?")
    (True, False)
    """

    def __init__(self, texts: Iterable[str], similar: float = 0.8) -> None:
        self.similar = similar
        self._sizes: list[int] = []
        self._texts_with: dict[Shingle, list[int]] = defaultdict(list)  # 3-gram -> numbers of texts
        for number, text in enumerate(dict.fromkeys(texts)):
            grams = word_shingles(text)
            self._sizes.append(len(grams))
            for gram in grams:
                self._texts_with[gram].append(number)

    def like(self, text: str) -> bool:
        """True if the text nearly repeats one of `texts`."""
        grams = word_shingles(text)
        shared = Counter(number for gram in grams for number in self._texts_with.get(gram, ()))
        return any(
            n >= self.similar * (len(grams) + self._sizes[number] - n) - 1e-9 for number, n in shared.items()
        )
