"""What the routes share: the library that computes, one to look things up in, and how work is handed on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from fastapi import Request

from spanwise.errors import SpanwiseError

from ...index.snapshot import Snapshot
from ...index.store import Store
from ..library import Library
from .batching import Batcher, Many
from .computing import ComputingThread
from .faults import Refused
from .index_watch import RUNNING, IndexWatch
from .metrics import Metrics
from .pdf_source import PdfPages
from .settings import Settings
from .utf16 import AstralPositions, Utf16

T = TypeVar("T")
LOOK_EVERY_S = 10.0
LAST_WAIT_S = 1.0
log = logging.getLogger("spanwise.serving")


class Service:
    """A library that is served. `shelf` is a second view of its index, which no computation holds up.

    `hidden` are folders that no message names; `watch` keeps the index current, if asked to.
    """

    def __init__(self, library: Library, settings: Settings, watch: IndexWatch | None = None) -> None:
        self.library, self.settings, self.watch = library, settings, watch
        self.shelf = Library(Store.open(library.store.path))
        self.pdf_pages = PdfPages(self.shelf)
        self.metrics = Metrics()
        if watch is not None:
            self.metrics.observe_watch(lambda: watch.state == RUNNING)
        self.thread = ComputingThread()
        self._astral = AstralPositions()  # used by that thread alone
        self.batcher = Batcher(self.thread, settings.batch, self.metrics.observe_batch)
        self.is_draining, self.is_stuck, self.in_flight = False, False, 0
        self.hidden = [str(library.store.path), *(str(root.folder) for root in library.roots)]

    @contextmanager
    def working(self) -> Iterator[None]:
        """Counts a request while it is worked on."""
        self.in_flight += 1
        self.metrics.in_flight.set(self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1
            self.metrics.in_flight.set(self.in_flight)

    async def keep_current(self) -> None:
        """Looks for a new commit now and then: an old one that is held makes SQLite's log grow."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                await self.batcher.alone(self._look)
            except (SpanwiseError, OSError) as error:
                log.warning("the index cannot be looked at: %s", error)

    def _look(self) -> int:
        with self.library.reading() as snapshot:
            return snapshot.generation

    async def batched(self, verb: str, options: str, many: Many, question: str) -> Any:
        """The record of one question, computed with others of the same verb and options."""
        return await self.batcher.result((verb, options), self._placed(many), question, verb)

    async def alone(self, compute: Callable[[], Any]) -> Any:
        """A record that is computed by itself, in its turn."""
        placed = self._placed(lambda questions: [compute()])
        return await self.batcher.result(object(), placed, "")

    async def placed(self, record: Any) -> Any:
        """A record that was computed before, with the offsets of UTF-16 where its words still stand."""
        return await self.looked_up(lambda snapshot: Utf16(snapshot, certain=False).added(record))

    async def looked_up(self, read: Callable[[Snapshot], T]) -> T:
        """What is read from the last commit, at once, beside what is being computed."""

        def look() -> T:
            with self.shelf.reading() as snapshot:
                return read(snapshot)

        return await asyncio.to_thread(look)

    def checked_k(self, k: int) -> int:
        """k; Refused when it is more than this server gives."""
        if k > self.settings.most_k:
            raise Refused(400, "BadRequest", f"k is {k}, expected at most {self.settings.most_k}")
        return k

    def checked_length(self, question: str) -> str:
        """The question; Refused when it is longer than this server reads."""
        most = self.settings.question_characters
        if len(question) > most:
            message = f"the question has {len(question):,} characters, expected at most {most:,}"
            raise Refused(400, "BadRequest", message)
        return question

    def close(self) -> None:
        """Waits a moment for what computes, then lets go of the shelf; `is_stuck` tells that it goes on."""
        self.is_stuck = not self.thread.stop(LAST_WAIT_S)
        self.pdf_pages.close()
        self.shelf.close()

    def _placed(self, many: Many) -> Many:
        """The same records with the offsets of UTF-16, from the commit that they were computed on."""

        def computed(questions: Any) -> list[Any]:
            with self.library._generations.last() as generation:
                records = many(questions)
                certain = self.library.store.last_commit() == generation.commit
                utf16 = Utf16(generation.snapshot, certain, self._astral)
                return [utf16.added(record) for record in records]

        return computed


async def service_of(request: Request) -> Service:
    """The service that an application was made with; not a plain function, which would cost a thread."""
    service: Service = request.app.state.service
    return service
