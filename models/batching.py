"""Batches of texts of similar length under a token budget, so that a batch holds little padding."""

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
Vectors = NDArray[np.float32]
Ids = NDArray[np.int64]
Lengths = Sequence[int] | Ids
OnProgress = Callable[[int], None]  # takes the number of items done so far
MULTIPLE = 8  # lengths are padded to a multiple of this
BUDGETS = {"cpu": 8192, "cuda": 65536}  # tokens: larger batches are no faster


def padded(length: int, multiple: int) -> int:
    """The least multiple of `multiple` that is not below `length`.

    >>> padded(33, 32), padded(32, 32)
    (64, 32)
    """
    return -(-length // multiple) * multiple


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """Sequences of tokens, one after another without padding.

    ids: the ids of all tokens, (T,) int64.
    types: the segment type of each token, (T,) int64.
    lengths: the number of tokens of each sequence, (B,) int64.

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
        present = mask.astype(bool)
        return cls(ids[present], types[present], mask.sum(axis=1))

    def starts(self) -> Ids:
        """(B,): the index of the first token of each sequence."""
        return np.cumsum(self.lengths) - self.lengths

    def positions(self) -> Ids:
        """(T,): the distance of each token from the start of its sequence."""
        return np.arange(len(self.ids), dtype=np.int64) - np.repeat(self.starts(), self.lengths)

    def mask(self, multiple: int = 1) -> NDArray[np.bool_]:
        """(B, L): True where a padded batch holds a token."""
        width = padded(int(self.lengths.max()), multiple)
        present: NDArray[np.bool_] = np.arange(width) < self.lengths[:, np.newaxis]
        return present

    def padded(self, pad: int, multiple: int = 1) -> tuple[Ids, Ids, Ids]:
        """Ids, attention mask and types of a padded batch, (B, L) int64 each, L a multiple of `multiple`."""
        present = self.mask(multiple)
        ids = np.full(present.shape, pad, dtype=np.int64)
        ids[present] = self.ids
        types = np.zeros(present.shape, dtype=np.int64)
        types[present] = self.types
        return ids, present.astype(np.int64), types


def token_budget_batches(lengths: Lengths, budget: int, multiple: int = 8) -> list[Ids]:
    """Index arrays, longest items first, each with at most `budget` tokens after padding.

    An item longer than the budget gets a batch to itself. Items of equal length keep their order.

    >>> [batch.tolist() for batch in token_budget_batches([3, 9, 4], budget=16, multiple=1)]
    [[1], [2, 0]]
    """
    left = _longest_first(lengths)
    batches: list[Ids] = []
    while len(left):
        batches.append(_first_batch(left, lengths, budget, multiple))
        left = left[len(batches[-1]) :]
    return batches


def shuffled_batches(lengths: Lengths, epochs: int, budget: int, multiple: int, seed: int) -> list[Ids]:
    """All batches of a training run: each epoch shuffled by the seed, items of similar length together.

    `lengths`: those of all epochs, one epoch after the other. `budget`: as for `token_budget_batches`.
    """
    rng = np.random.default_rng(seed)
    lengths = np.asarray(lengths)
    per_epoch = len(lengths) // epochs
    batches: list[Ids] = []
    for epoch in range(epochs):
        order = rng.permutation(per_epoch) + epoch * per_epoch
        noisy = lengths[order] + rng.integers(0, multiple // 2, per_epoch)
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

    @classmethod
    def on(cls, device_type: str) -> Batcher:
        """The batcher with the budget of a type of device."""
        return cls(BUDGETS.get(device_type, BUDGETS["cpu"]))

    def run(
        self, lengths: Lengths, compute: Callable[[Ids], Result], describe: Callable[[int], str]
    ) -> Iterator[tuple[Ids, Result]]:
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
                    item = f"{describe(int(batch[0]))}: {longest} tokens"
                    raise OutOfMemory(f"{item} do not fit into the memory of the device") from error
                self.budget = len(batch) // 2 * padded(max(1, longest), MULTIPLE)
            else:
                yield batch, result
                left = left[len(batch) :]


def prefetch(items: Iterable[Item], make: Callable[[Item], Result]) -> Iterator[Result]:
    """`make` of each item, in order; a thread makes the next one while the caller uses the last one.

    The caller's thread makes the first item, so that a single item starts no thread.

    >>> list(prefetch("abc", str.upper))
    ['A', 'B', 'C']
    """
    left = iter(items)
    for first in left:
        result = make(first)
        with ThreadPoolExecutor(1, "spanwise-prefetch") as pool:
            for item in left:
                following = pool.submit(make, item)
                yield result
                result = following.result()
        yield result


def joined(vectors: Sequence[Vectors], width: int) -> tuple[Vectors, Ids]:
    """The rows (T, width) of all texts one after another, and the number of rows of each text (n,)."""
    lengths = np.array([len(rows) for rows in vectors], np.int64)
    return np.concatenate([np.empty((0, width), np.float32), *vectors]), lengths


def parts(values: Vectors, lengths: Sequence[int]) -> list[Vectors]:
    """Consecutive parts of `values` with these lengths.

    >>> [part.tolist() for part in parts(np.arange(3), [2, 0, 1])]
    [[0, 1], [], [2]]
    """
    return np.split(values, np.cumsum(lengths)[:-1]) if len(lengths) else []


def no_progress(done: int) -> None:
    """The default progress callback, which does nothing."""


def _longest_first(lengths: Lengths) -> Ids:
    return np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")


def _first_batch(left: Ids, lengths: Lengths, budget: int, multiple: int) -> Ids:
    """As many items from the start of `left`, longest first, as the budget allows; at least one."""
    if budget < 1:
        raise ValueError(f"budget is {budget}, expected at least 1 token")
    return left[: max(1, budget // padded(max(1, int(lengths[left[0]])), multiple))]


def _is_out_of_memory(error: BaseException) -> bool:
    message = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in message or "can't allocate memory" in message
