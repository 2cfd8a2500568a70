"""Draws pages of PDFs in a child process, so that a file made to harm neither hangs nor kills its parent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from spanwise.errors import DocumentRejected, SpanwiseError

from ...corpora.readers.pdf_image import PagePlaces
from ...index.analysis import Analyzer
from .drawn_page import checked_picture, checked_places
from .limits import Limits
from .process import ChildDied, ChildProcess, Message
from .wire import WrongAnswer

LIMITS = Limits(cpu_s=10, wall_s=15.0)
PAGES_PER_CHILD = 200
LONGEST_REASON = 500  # characters

Found = TypeVar("Found")


class PageDrawer:
    """One child at most, started when the first page is wanted; for any number of threads, one at a time."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._child: ChildProcess | None = None
        self._n_pages = 0  # that the child was asked for
        self._asking = threading.Lock()

    def places(self, data: bytes, page: int, words: str, before: str, after: str) -> PagePlaces:
        """The size of a page, counted from 1, and boxes around words; see `corpora.readers.pdf_image`.

        `DocumentRejected` says why there is none, or that it took too long.
        """
        header = {"page": page, "words": words, "before": before, "after": after}
        return self._ask(header, data, lambda answer: checked_places(answer[0]))

    def picture(self, data: bytes, page: int, width: int) -> bytes:
        """The page as PNG, `width` pixels wide; `DocumentRejected` as above."""
        header = {"page": page, "width": width}
        return self._ask(header, data, lambda answer: checked_picture(answer[1][0]))

    def close(self) -> None:
        """End the child; another is started when it is needed."""
        with self._asking:
            self._end()

    def _ask(
        self, header: Mapping[str, object], data: bytes, understood: Callable[[Message], Found]
    ) -> Found:
        with self._asking:
            if self._n_pages >= PAGES_PER_CHILD:
                self._end()
            try:
                answer = self._running().ask(header, data)
                self._n_pages += 1
                _refuse(answer[0], self._limits)
                return understood(answer)
            except (ChildDied, WrongAnswer) as error:
                self._end()
                raise DocumentRejected(str(error)) from None

    def _running(self) -> ChildProcess:
        if self._child is None:
            self._child = ChildProcess.start(self._limits, Analyzer().settings())
            try:
                self._child.wait_until_ready()
            except ChildDied as death:
                self._end()
                raise SpanwiseError(f"the process that draws pages does not start: {death}") from None
        return self._child

    def _end(self) -> None:
        child, self._child, self._n_pages = self._child, None, 0
        if child is not None:
            child.close()


def _refuse(answer: Mapping[str, Any], limits: Limits) -> None:
    """Raises what the child said instead of an answer."""
    if "rejected" in answer:
        raise DocumentRejected(" ".join(str(answer["rejected"]).split())[:LONGEST_REASON])
    if "out_of_memory" in answer:
        raise ChildDied(limits.over_memory())
