"""A generator that works, as an async one that does not hold up the event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from threading import Lock
from typing import Any, Final, Generic, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_END: Final = object()

InThread = Callable[[Callable[[], Any]], Awaitable[Any]]


class Stream(AsyncIterator[T], Generic[T, R]):
    """Yields what a generator yields, each value made in a thread. Leave it early with `aclose`.

    `returned` is what the generator behind it returned, None before its end; for the sentences of a summary
    that is the `Summary`.
    """

    def __init__(self, source: Generator[T, None, R], in_thread: InThread) -> None:
        self.returned: R | None = None
        self._source, self._in_thread = source, in_thread
        self._is_closed = False
        self._one_at_a_time = Lock()  # a value that nobody waits for any more may still be in the making

    def __aiter__(self) -> Self:
        """The stream itself."""
        return self

    async def __anext__(self) -> T:
        """The next value."""
        value = await self._in_thread(self._next)
        if value is _END:
            raise StopAsyncIteration
        found: T = value
        return found

    async def aclose(self) -> None:
        """Ends the iterator; a value that is in the making is waited for, and dropped."""
        self._is_closed = True
        await self._in_thread(self._close)

    async def __aenter__(self) -> Self:
        """The stream itself."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Closes it."""
        await self.aclose()

    def _next(self) -> Any:
        with self._one_at_a_time:
            if self._is_closed:
                return _END
            try:
                return next(self._source)
            except StopIteration as end:
                self.returned = end.value if self.returned is None else self.returned
                return _END

    def _close(self) -> None:
        with self._one_at_a_time:
            self._source.close()
