"""Questions with as many passages as a step takes, and the batches that they are learned in."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanwise.types import RankingExample

from ...models.batching import padded, token_budget_batches

PAD_MULTIPLE = 32
_BUCKET = 64  # smaller ones pad less and compute slower


@dataclass(frozen=True, slots=True)
class Group:
    """A question with passages, a positive one first; `scores` are a teacher's, if there are any."""

    question: str
    passages: tuple[str, ...]
    scores: tuple[float, ...] = ()


def drawn_groups(examples: Sequence[RankingExample], epochs: int, negatives: int, seed: int) -> list[Group]:
    """A group for each example and epoch, in their order; an example without negatives is left out.

    Its positive passage and its negatives are drawn by the seed, fewer negatives where there are no more.
    ValueError when no example has any.
    """
    rng = random.Random(seed)
    groups = []
    for _ in range(epochs):
        for one in examples:
            others = range(one.n_positive, len(one.passages))
            if others:
                drawn = [rng.randrange(one.n_positive), *rng.sample(others, min(negatives, len(others)))]
                passages = tuple(one.passages[i] for i in drawn)
                groups.append(
                    Group(one.question, passages, tuple(one.scores[i] for i in drawn if one.scores))
                )
    if not groups:
        raise ValueError(f"none of {len(examples)} lists has a passage that does not answer its question")
    return groups


def plan_groups(
    groups: Sequence[Group], lengths: Sequence[int], epochs: int, budget: int, seed: int
) -> list[NDArray[np.int64]]:
    """All batches of the run in order: epochs one after another, each shuffled, of like length in a batch.

    `lengths` are the mean ones of the sequences of each group, `budget` is that of the tokens of one a group.
    """
    rng = np.random.default_rng(seed)
    per_epoch = len(groups) // epochs
    batches: list[NDArray[np.int64]] = []
    for epoch in range(epochs):
        order = rng.permutation(per_epoch) + epoch * per_epoch
        noisy = np.asarray(lengths)[order] + rng.integers(0, PAD_MULTIPLE // 2, per_epoch)
        planned = token_budget_batches(noisy, budget, PAD_MULTIPLE)
        batches += [order[planned[i]] for i in rng.permutation(len(planned))]
    return batches


def length_buckets(lengths: Sequence[int]) -> list[NDArray[np.int64]]:
    """The items in parts of like length, short ones first: each is padded for itself, to far less.

    >>> [part.tolist() for part in length_buckets([70, 10, 100, 30])]
    [[1, 3], [0, 2]]
    """
    buckets = -(-np.asarray(lengths) // _BUCKET)
    return [np.flatnonzero(buckets == bucket) for bucket in np.unique(buckets)]


def mean_length(lengths: Sequence[int]) -> int:
    """The mean of the padded lengths of a group's sequences, rounded up."""
    return -(-sum(padded(length, PAD_MULTIPLE) for length in lengths) // len(lengths))
