"""Work on files in several parsers at once, with the results in the order of the files.

Threads wait for the children; what they have ready is held back until its turn comes. How much may be held is
bounded, so that memory does not grow with the folder.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import LifoQueue
from types import TracebackType
from typing import Protocol, Self, TypeVar

from .parser import Parser

AHEAD_FILES = 64
AHEAD_BYTES = 32 * 2**20


class Sized(Protocol):
    """Something with a size in bytes."""

    @property
    def size(self) -> int:
        """Bytes."""
        ...


T = TypeVar("T", bound=Sized)
R = TypeVar("R")


def default_workers() -> int:
    """How many parsers pay: one a core, four at most, since one process stores what they read."""
    if hasattr(os, "sched_getaffinity"):
        return min(4, len(os.sched_getaffinity(0)))
    return min(4, os.cpu_count() or 1)


class ParserPool:
    """`workers` parsers, none of which starts a child before it is needed; leaving the context ends them."""

    def __init__(
        self,
        workers: int,
        analyzer: Mapping[str, str],
    ) -> None:
        if workers < 1:
            raise ValueError(f"workers is {workers}, expected at least 1")
        self._parsers = [Parser(analyzer) for _ in range(workers)]
        self._idle: LifoQueue[Parser] = LifoQueue()  # the one used last is the likeliest to have a child
        for parser in self._parsers:
            self._idle.put(parser)
        self._threads = ThreadPoolExecutor(workers, "spanwise-parser")

    def __enter__(self) -> Self:
        """The pool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all children at once, and the threads that wait for them."""
        for parser in self._parsers:
            parser.stop()
        self._threads.shutdown(cancel_futures=True)
        for parser in self._parsers:
            parser.close()

    def map(self, work: Callable[[Parser, T], R], items: Iterable[T]) -> Iterator[R]:
        """What `work` returns for each item, in the order of the items; what it raises comes out in turn."""
        waiting: deque[tuple[Future[R], int]] = deque()
        ahead = 0
        for item in items:
            while waiting and (ahead + item.size > AHEAD_BYTES or len(waiting) >= AHEAD_FILES):
                future, size = waiting.popleft()
                ahead -= size
                yield future.result()
            waiting.append((self._threads.submit(self._run, work, item), item.size))
            ahead += item.size
        while waiting:
            yield waiting.popleft()[0].result()

    def _run(self, work: Callable[[Parser, T], R], item: T) -> R:
        parser = self._idle.get()
        try:
            return work(parser, item)
        finally:
            self._idle.put(parser)
