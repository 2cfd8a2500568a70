"""Negatives for a question: what rankers found for it that does not answer it, and some at random.

A hard negative is a passage high in a ranking that holds none of the answers and does not nearly repeat the
positive one: such a passage may well answer the question in other words (a false negative).

Source: Karpukhin et al. 2020, section 3.2 (BM25 negatives without the answer, and random ones); Xiong et al.,
"Approximate Nearest Neighbor Negative Contrastive Learning for Dense Text Retrieval", 2021 (a model's own).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest


@dataclass(frozen=True, slots=True)
class Mining:
    """`hard` negatives a question, in turn from each ranking down to `depth`, and `easy` ones at random.

    A passage that shares at least `alike` of its shingles with the positive one is neither.
    """

    hard: int = 12
    easy: int = 2
    depth: int = 50
    alike: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that mine nothing."""
        if self.hard < 0 or self.easy < 0 or self.hard + self.easy < 1 or self.depth < 1:
            raise ValueError(f"{self.hard} hard and {self.easy} easy negatives to depth {self.depth}")
        if not 0 < self.alike <= 1:
            raise ValueError(f"alike must be above 0 and at most 1, not {self.alike}")


def negatives(
    positive: str,
    rankings: Sequence[Sequence[str]],
    others: Sequence[str],
    answers_it: Callable[[str], bool],
    similarity: Callable[[str, str], float],
    mining: Mining,
    rng: random.Random,
) -> tuple[str, ...]:
    """The hard negatives, best ranked first, then the easy ones; fewer where there are no more.

    `rankings` are passages, best first; `others` is what easy ones are drawn from. `answers_it` says whether
    a passage holds an answer, `similarity` how much two repeat each other, from 0 to 1.
    """

    def is_negative(passage: str) -> bool:
        return (
            passage != positive and not answers_it(passage) and similarity(positive, passage) < mining.alike
        )

    found: dict[str, None] = {}
    for passage in _in_turn([ranking[: mining.depth] for ranking in rankings]):
        if len(found) == mining.hard:
            break
        if passage not in found and is_negative(passage):
            found[passage] = None
    wanted = len(found) + mining.easy
    for _ in range(20 * mining.easy if others else 0):  # a draw may be wrong, and all of them may be
        if len(found) == wanted:
            break
        drawn = others[rng.randrange(len(others))]
        if drawn not in found and is_negative(drawn):
            found[drawn] = None
    return tuple(found)


def _in_turn(rankings: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first of each ranking, then the second of each, and so on."""
    for row in zip_longest(*rankings):
        yield from (passage for passage in row if passage is not None)
