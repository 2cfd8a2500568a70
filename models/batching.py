"""Batches by token budget: texts of similar length together, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import OutOfMemory

Item = TypeVar("Item")
Result = TypeVar("Result")
Lengths = Sequence[int] | NDArray[np.int64]
Vectors = NDArray[np.float32]
Ids = NDArray[np.int64]
MULTIPLE = 8  # what lengths are padded to
BUDGETS = {"cpu": 8192, "cuda": 65536}  # tokens: larger batches are no faster


def padded(length: int, multiple: int) -> int:
    """The least multiple of `multiple` that is not below `length`.

    >>> padded(33, 32), padded(32, 32)
    (64, 32)
    """
    return -(-length // multiple) * multiple


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """The ids and segment types of all tokens, (T,) int64 each, and the length of each sequence (B,).

    >>> tokens = PackedTokens.of([[5, 6, 7], [8]])
    >>> tokens.positions().tolist(), tokens.starts().tolist()
    ([0, 1, 2, 0], [0, 3])
    """

    ids: Ids
    types: Ids
    lengths: Ids

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> PackedTokens:
        """These sequences, all of segment 0; ValueError if there is none or one is empty."""
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        if not len(lengths) or not lengths.all():
            raise ValueError(f"sequences of {lengths.tolist()} tokens, expected some, none of them empty")
        ids = np.fromiter((i for row in rows for i in row), dtype=np.int64, count=int(lengths.sum()))
        return cls(ids, np.zeros_like(ids), lengths)

    @classmethod
    def of_padded(cls, ids: Ids, mask: Ids, types: Ids) -> PackedTokens:
        """The tokens of a padded batch (B, L) where the mask is not 0."""
        kept = mask.astype(bool)
        return cls(ids[kept], types[kept], mask.sum(axis=1))

    def starts(self) -> Ids:
        """(B,): where each sequence begins."""
        return np.cumsum(self.lengths) - self.lengths

    def positions(self) -> Ids:
        """(T,): the distance of each token from the start of its sequence."""
        return np.arange(len(self.ids), dtype=np.int64) - np.repeat(self.starts(), self.lengths)

    def mask(self, multiple: int = 1) -> NDArray[np.bool_]:
        """(B, L): where a padded batch would hold a token."""
        width = padded(int(self.lengths.max()), multiple)
        kept: NDArray[np.bool_] = np.arange(width) < self.lengths[:, np.newaxis]
        return kept

    def padded(self, pad: int, multiple: int = 1) -> tuple[Ids, Ids, Ids]:
        """Ids, attention mask and types as a padded batch, (B, L) int64 each, L a multiple of `multiple`."""
        kept = self.mask(multiple)
        ids, types = np.full(kept.shape, pad, dtype=np.int64), np.zeros(kept.shape, dtype=np.int64)
        ids[kept], types[kept] = self.ids, self.types
        return ids, kept.astype(np.int64), types


def token_budget_batches(lengths: Lengths, budget: int, multiple: int = 8) -> list[NDArray[np.int64]]:
    """Index arrays, longest items first, each with at most `budget` tokens after padding.

    An item longer than the budget is a batch of its own. Ties keep the order given.

    >>> [batch.tolist() for batch in token_budget_batches([3, 9, 4], budget=16, multiple=1)]
    [[1], [2, 0]]
    """
    left = _longest_first(lengths)
    batches: list[NDArray[np.int64]] = []
    while len(left):
        batches.append(_first_batch(left, lengths, budget, multiple))
        left = left[len(batches[-1]) :]
    return batches


def shuffled_batches(
    lengths: Lengths, epochs: int, budget: int, multiple: int, seed: int
) -> list[NDArray[np.int64]]:
    """All batches of a training run: epoch by epoch, shuffled by the seed, items of like length together.

    `lengths` has those of all epochs, one epoch after the other; `budget` as for `token_budget_batches`.
    """
    rng, every = np.random.default_rng(seed), np.asarray(lengths)
    per_epoch = len(every) // epochs
    batches: list[NDArray[np.int64]] = []
    for epoch in range(epochs):
        order = rng.permutation(per_epoch) + epoch * per_epoch
        noisy = every[order] + rng.integers(0, multiple // 2, per_epoch)
        planned = token_budget_batches(noisy, budget, multiple)
        batches += [order[planned[i]] for i in rng.permutation(len(planned))]
    return batches


class Batcher:
    """Computes items in batches of at most `budget` tokens after padding, smaller ones if memory runs out.

    When the device runs out of memory, `budget` becomes half of what failed, for this call and all later
    ones: at most log2(budget / 8) batches fail in the life of a batcher.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget

    def run(
        self, lengths: Lengths, compute: Callable[[NDArray[np.int64]], Result], describe: Callable[[int], str]
    ) -> Iterator[tuple[NDArray[np.int64], Result]]:
        """Batches as index arrays with the results of `compute`; every item once, longest first.

        OutOfMemory, with `describe(item)`, if one item alone does not fit. Other errors pass through.
        """
        left = _longest_first(lengths)
        while len(left):
            batch = _first_batch(left, lengths, self.budget, MULTIPLE)
            try:
                result = compute(batch)
            except (RuntimeError, MemoryError) as error:
                if not _is_out_of_memory(error):
                    raise
                longest = int(lengths[batch[0]])
                if len(batch) == 1:
                    what = f"{describe(int(batch[0]))}: {longest} tokens"
                    raise OutOfMemory(f"{what} do not fit into the memory of the device") from error
                self.budget = len(batch) // 2 * padded(max(1, longest), MULTIPLE)
            else:
                yield batch, result
                left = left[len(batch) :]


def prefetch(items: Iterable[Item], make: Callable[[Item], Result]) -> Iterator[Result]:
    """`make` of each item, in order; the next one is made in a thread while the caller uses the last one.

    The first item is made in the thread of the caller, so that a single item starts no thread.

    >>> list(prefetch("abc", str.upper))
    ['A', 'B', 'C']
    """
    left = iter(items)
    for first in left:
        made = make(first)
        with ThreadPoolExecutor(1, "spanwise-prefetch") as pool:
            for item in left:
                following = pool.submit(make, item)
                yield made
                made = following.result()
        yield made


def split_scores(scores: NDArray[np.float32], passages: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
    """The scores of all pairs, cut into one array a question."""
    return np.split(scores, np.cumsum([len(texts) for texts in passages])[:-1]) if len(passages) else []


def no_progress(done: int) -> None:
    """The default progress callback, which does nothing."""


def _longest_first(lengths: Lengths) -> NDArray[np.int64]:
    return np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")


def _first_batch(left: NDArray[np.int64], lengths: Lengths, budget: int, multiple: int) -> NDArray[np.int64]:
    """The items from the start of `left`, longest first, that the budget allows; at least one."""
    if budget < 1:
        raise ValueError(f"budget is {budget}, expected at least 1 token")
    return left[: max(1, budget // padded(max(1, int(lengths[left[0]])), multiple))]


def _is_out_of_memory(error: BaseException) -> bool:
    message = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in message or "can't allocate memory" in message
