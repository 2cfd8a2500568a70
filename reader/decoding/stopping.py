"""When a text ends: at an end token, at the most tokens, below a score, after a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Ended(StrEnum):
    """What ended a text."""

    END = "end"
    MOST_TOKENS = "most tokens"
    SCORE = "score"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a text may go; it always ends at an end token.

    `tokens` is never exceeded, an end token counts. `score` is the least mean log-probability of a token
    (nats) that a text may have, `seconds` the time that its writing may take: what is there then is the text.
    """

    tokens: int = 256
    score: float | None = None
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Raises ValueError for a limit that leaves no token."""
        if self.tokens < 1:
            raise ValueError(f"a text of at most {self.tokens} tokens is none")
        if self.seconds is not None and self.seconds <= 0:
            raise ValueError(f"a text cannot be written in {self.seconds} seconds")

    def watch(self) -> Watch:
        """These limits from now on."""
        return Watch(self, self.clock())


@dataclass(frozen=True, slots=True)
class Watch:
    """Limits of a text that was begun."""

    limits: Limits
    began: float

    def ended(self, n_tokens: int, logprob: float, at_end: bool) -> Ended | None:
        """What ends a text of so many tokens, if anything does; the end token goes before the limits."""
        if at_end:
            return Ended.END
        if n_tokens >= self.limits.tokens:
            return Ended.MOST_TOKENS
        if self.limits.score is not None and n_tokens and logprob / n_tokens < self.limits.score:
            return Ended.SCORE
        return Ended.TIME if self.is_late else None

    @property
    def is_late(self) -> bool:
        """True once the time is over."""
        seconds = self.limits.seconds
        return seconds is not None and self.limits.clock() - self.began >= seconds
