"""How long to wait before the next try: exponential back-off with full jitter, or as the server asks.

Source: M. Brooker, "Exponential Backoff and Jitter" (AWS Architecture Blog, 2015), "full jitter":
wait = random(0, min(longest, first * 2^attempt)). Retry-After: RFC 9110, section 10.2.3.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class BackOff:
    """When to try again; seconds. `now` is the time of day, `draw` gives numbers from 0 to 1."""

    first_s: float = 0.5
    longest_s: float = 30.0
    now: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random

    def wait_s(self, attempt: int, retry_after: str | None = None) -> float:
        """The seconds to wait after `attempt` (from 0): drawn, or more if the server asks, but capped."""
        drawn = self.draw() * min(self.longest_s, self.first_s * 2.0 ** min(attempt, 64))
        asked = seconds_asked(retry_after, self.now()) if retry_after else None
        return drawn if asked is None else min(self.longest_s, max(drawn, asked))


def seconds_asked(retry_after: str, now: float) -> float | None:
    """The seconds that a Retry-After asks for, 0 for a time gone by; None if it is neither number nor date.

    >>> seconds_asked("120", 0.0), seconds_asked("Thu, 01 Jan 1970 00:01:00 GMT", 15.0)
    (120.0, 45.0)
    """
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        return max(0.0, _aware(date).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _aware(date: datetime) -> datetime:
    return date if date.tzinfo else date.replace(tzinfo=UTC)
