"""Questions that wait while others are computed are taken together, where they ask for the same.

There is no waiting for company: a question that finds the computing thread idle is computed at once. Those
that come meanwhile wait, and the oldest is then taken with others that share its key: with so many that a
batch should take no longer than TOGETHER_S, by what its kind has cost before, as nobody of a batch is
answered before its end. A batch that fails is computed again one by one, so that a question fails alone. One
whose asker is gone is not computed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from .computing import ComputingThread

Many = Callable[[Sequence[str]], Sequence[Any]]
"""From questions to as many results."""

Outcome = tuple[Any, Exception | None]
TOGETHER_S = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A question with the options that it was asked with, and where its result is to go."""

    key: Hashable
    many: Many
    question: str
    kind: str
    result: asyncio.Future[Any]


class Batcher:
    """Hands batches of at most `most` questions to one thread; used from one event loop.

    `observe` hears of each batch: how many questions it had, and the seconds that it took.
    """

    def __init__(self, thread: ComputingThread, most: int, observe: Callable[[int, float], None]) -> None:
        self._thread, self._most, self._observe = thread, most, observe
        self._waiting: list[Waiting] = []
        self._is_busy = False
        self._cost_s: dict[str, float] = {}

    async def result(self, key: Hashable, many: Many, question: str, kind: str = "") -> Any:
        """What `many` gives for the question, perhaps computed with others of an equal key.

        Questions of a `kind` are taken to cost about the same. Cancelled while it waits, it is taken out.
        """
        one = Waiting(key, many, question, kind, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        self._next()
        return await one.result

    async def alone(self, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, in its turn and in the same thread."""
        return await self.result(object(), lambda questions: [compute()], "")

    def _next(self) -> None:
        self._waiting = [one for one in self._waiting if not one.result.done()]
        if self._is_busy or not self._waiting:
            return
        first = self._waiting[0]
        batch = [one for one in self._waiting if one.key == first.key][: self._room(first.kind)]
        self._waiting = [one for one in self._waiting if one not in batch]
        self._is_busy = True
        loop = asyncio.get_running_loop()

        def compute() -> None:
            began = time.perf_counter()
            outcomes = _outcomes(batch)
            took = time.perf_counter() - began
            loop.call_soon_threadsafe(self._finish, batch, outcomes, took)

        self._thread.do(compute)

    def _room(self, kind: str) -> int:
        """How many questions of a kind are taken together."""
        cost_s = self._cost_s.get(kind, 0.0)
        return self._most if cost_s * self._most <= TOGETHER_S else max(1, int(TOGETHER_S / cost_s))

    def _finish(self, batch: Sequence[Waiting], outcomes: Sequence[Outcome], took: float) -> None:
        self._is_busy = False
        kind, each_s = batch[0].kind, took / len(batch)
        self._cost_s[kind] = (self._cost_s.get(kind, each_s) + each_s) / 2  # soon forgets what loading took
        self._observe(len(batch), took)
        for one, (value, error) in zip(batch, outcomes, strict=True):
            if one.result.done():
                continue
            if error is None:
                one.result.set_result(value)
            else:
                one.result.set_exception(error)
        self._next()


def _outcomes(batch: Sequence[Waiting]) -> list[Outcome]:
    """What came of each question; the same question is computed once."""
    distinct = list(dict.fromkeys(one.question for one in batch))
    try:
        found = dict(zip(distinct, batch[0].many(distinct), strict=True))
    except Exception as error:
        if len(distinct) == 1:
            return [(None, error) for _ in batch]
        return [_outcome(one) for one in batch]
    return [(found[one.question], None) for one in batch]


def _outcome(one: Waiting) -> Outcome:
    if one.result.cancelled():
        return None, None
    try:
        [value] = one.many([one.question])
    except Exception as error:
        return None, error
    return value, None
