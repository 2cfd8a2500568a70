"""Work on the next item in a thread, while its caller is busy with the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def one_ahead(items: Iterable[Item], make: Callable[[Item], Made]) -> Iterator[Made]:
    """What `make` says of each item, in their order; what it raises comes out in turn.

    The items are drawn and the first is made in the caller's thread, so that one item alone starts none.

    >>> list(one_ahead("abc", str.upper))
    ['A', 'B', 'C']
    """
    left = iter(items)
    for first in left:
        made = make(first)
        with ThreadPoolExecutor(1, "spanwise-ahead") as pool:
            for item in left:
                following = pool.submit(make, item)
                yield made
                made = following.result()
        yield made
