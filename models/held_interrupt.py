"""Ctrl-C that waits until a piece of work is whole, so that what is then saved can be gone on with."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_interrupt() -> Iterator[None]:
    """Passes a Ctrl-C within the block on at its end, by default as a KeyboardInterrupt.

    Outside of the main thread, which alone hears of signals, and where they are ignored it changes nothing.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if heard:
        handler(signal.SIGINT, None)
