"""A library for programs that run on an event loop: the methods that wait are awaited.

async with spanwise.open_async("notes") as library:
    await library.sync()
    answers = await asyncio.gather(*map(library.ask, questions))
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from spanwise.errors import IndexClosed

from .library import Library
from .opening import open
from .twins import flowing, twin

T = TypeVar("T")

THREADS = 4  # one computes at a time; the others read the disk, sync, or find answers that were kept


class AsyncLibrary:
    """The awaitable twin of a `Library`, which it owns from then on; it is `library`.

    Any number of tasks may use it at once. What is here is what may take long; ask `library` for the rest.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="spanwise")
        self._is_closed = False

    search = twin(Library.search)
    search_many = twin(Library.search_many)
    search_each = flowing(Library.search_each)
    ask = twin(Library.ask)
    ask_many = twin(Library.ask_many)
    ask_each = flowing(Library.ask_each)
    explain = twin(Library.explain)
    why_not = twin(Library.why_not)
    summarize = twin(Library.summarize)
    summary_sentences = flowing(Library.summary_sentences)
    written = twin(Library.written)
    sync = twin(Library.sync)
    use_colbert = twin(Library.use_colbert)
    scope = twin(Library.scope)
    document = twin(Library.document)
    passages = twin(Library.passages)
    gaps = twin(Library.gaps)
    status = twin(Library.status)
    files = twin(Library.files)
    clear_cache = twin(Library.clear_cache)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """What `work` returns, done in one of this library's threads; IndexClosed after `aclose`."""
        if self._is_closed:
            raise IndexClosed(
                f"{self.library.store.path} was closed by this program: open it again to use it"
            )
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def aclose(self) -> None:
        """Closes the library once what is at work has ended; closing it twice is fine."""
        self._is_closed = True
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        await asyncio.to_thread(self.library.close)

    async def __aenter__(self) -> Self:
        """The library itself."""
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Closes it."""
        await self.aclose()


class Opening:
    """An `AsyncLibrary` that is being opened: `await` it, or enter it with `async with`, which closes it."""

    def __init__(self, open_library: Callable[[], Library]) -> None:
        self._open_library = open_library
        self._opened: AsyncLibrary | None = None

    def __await__(self) -> Generator[Any, None, AsyncLibrary]:
        """The opened library."""
        return self._open().__await__()

    async def __aenter__(self) -> AsyncLibrary:
        """The opened library."""
        self._opened = await self._open()
        return self._opened

    async def __aexit__(self, *raised: object) -> None:
        """Closes it."""
        if self._opened is not None:
            await self._opened.aclose()

    async def _open(self) -> AsyncLibrary:
        return AsyncLibrary(await asyncio.to_thread(self._open_library))


def open_async(
    folder: str | Path | Sequence[str | Path],
    index: str | Path | None = None,
    model: str | None = None,
    cache: bool = True,
    colbert: str | None = None,
) -> Opening:
    """The `AsyncLibrary` of one folder, or of several; the arguments are those of `open`."""
    return Opening(partial(open, folder, index, model, cache, colbert))
