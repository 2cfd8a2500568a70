"""Batches by token budget: texts of like length together, so that little of a batch is padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import OutOfMemory

Result = TypeVar("Result")


def padded(length: int, multiple: int) -> int:
    """The least multiple of `multiple` that is not below `length`.

    >>> padded(33, 32), padded(32, 32)
    (64, 32)
    """
    return -(-length // multiple) * multiple


def token_budget_batches(
    lengths: Sequence[int] | NDArray[np.int64], budget: int, multiple: int = 8
) -> list[NDArray[np.int64]]:
    """Index arrays, longest items first, each with at most `budget` tokens after padding.

    An item longer than the budget is a batch of its own. Ties keep the order given.

    >>> [batch.tolist() for batch in token_budget_batches([3, 9, 4], budget=16, multiple=1)]
    [[1], [2, 0]]
    """
    if budget < 1:
        raise ValueError(f"budget is {budget}, expected at least 1 token")
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    batches: list[NDArray[np.int64]] = []
    at = 0
    while at < len(order):
        widest = padded(max(1, int(lengths[order[at]])), multiple)
        size = max(1, budget // widest)
        batches.append(order[at : at + size])
        at += size
    return batches


def run_halving(
    batch: NDArray[np.int64], compute: Callable[[NDArray[np.int64]], Result], describe: Callable[[int], str]
) -> list[tuple[NDArray[np.int64], Result]]:
    """The results of `compute` on the batch, or on its halves where the device ran out of memory.

    Other errors pass through. Out of memory on a single item raises OutOfMemory with `describe(item)`.
    """
    try:
        return [(batch, compute(batch))]
    except (RuntimeError, MemoryError) as error:
        if not _is_out_of_memory(error):
            raise
        if len(batch) == 1:
            raise OutOfMemory(f"{describe(int(batch[0]))} does not fit into memory alone") from error
    middle = len(batch) // 2
    return run_halving(batch[:middle], compute, describe) + run_halving(batch[middle:], compute, describe)


def _is_out_of_memory(error: BaseException) -> bool:
    message = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in message or "can't allocate memory" in message
