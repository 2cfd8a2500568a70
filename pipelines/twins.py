"""Methods of a `Library` made into methods of an `AsyncLibrary`, with their types: a line each.

search = twin(Library.search)                           # awaited
ask_each = flowing(Library.ask_each)                    # async for answer in ...
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from functools import partial, wraps
from inspect import signature
from threading import Event
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .progress import Report, silent
from .stream import Stream

if TYPE_CHECKING:
    from .async_library import AsyncLibrary
    from .library import Library

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

REPORT = "report"  # the parameter by which long work tells how far it is


class Abandoned(BaseException):
    """Ends work in a thread whose result nobody waits for any more; it never leaves that thread."""


def twin(
    method: Callable[Concatenate[Library, P], T],
) -> Callable[Concatenate[AsyncLibrary, P], Coroutine[Any, Any, T]]:
    """The method, run in a thread of the `AsyncLibrary`.

    Cancelled, it is no longer waited for. What has not begun never begins; what reports its progress ends at
    its next report, as an interruption would end it; the rest goes on to its end unheard.
    """
    given = signature(method)

    @wraps(method)
    async def waiting(self: AsyncLibrary, /, *args: P.args, **kwargs: P.kwargs) -> T:
        call = given.bind(self.library, *args, **kwargs)
        abandoned = Event()
        if REPORT in given.parameters:
            heard: Report = call.arguments.get(REPORT, silent)
            call.arguments[REPORT] = partial(_heard, heard, abandoned)
        try:
            return await self.in_thread(partial(method, *call.args, **call.kwargs))
        except BaseException:
            abandoned.set()
            raise

    return waiting


def flowing(
    method: Callable[Concatenate[Library, P], Generator[T, None, R]],
) -> Callable[Concatenate[AsyncLibrary, P], Stream[T, R]]:
    """The method, whose results are made in a thread, each when the one before was taken."""

    @wraps(method)
    def flow(self: AsyncLibrary, /, *args: P.args, **kwargs: P.kwargs) -> Stream[T, R]:
        return Stream(method(self.library, *args, **kwargs), self.in_thread)

    return flow


def _heard(report: Report, abandoned: Event, stage: str, done: int, total: int) -> None:
    if abandoned.is_set():
        raise Abandoned
    report(stage, done, total)
