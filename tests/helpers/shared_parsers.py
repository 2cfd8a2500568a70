"""Processes that read files, shared by the tests of a run: starting takes longer than reading a few notes."""

import os
import sys
import threading
from collections.abc import Mapping

from spanwise.pipelines.parsing import pool
from spanwise.pipelines.parsing.pool import Child, ChildDied
from spanwise.pipelines.parsing.worker import Limits, Message

MAX_IDLE = 8
IDLE: list["SharedChild"] = []
CHANGING = threading.RLock()


class SharedChild(Child):
    """A child that waits, when it ends without work, for the next one with its settings and environment."""

    def __init__(self, limits: Limits, analyzer: Mapping[str, str]) -> None:
        environment = {name: os.environ.get(name) for name in pool.PASSED_ON}
        key = (pool.START, limits, dict(analyzer), environment, sys.path.copy())
        with CHANGING:
            waiting = next((child for child in reversed(IDLE) if child.key == key), None)
            if waiting:
                IDLE.remove(waiting)
                vars(self).update(vars(waiting))
        if not waiting:
            super().__init__(limits, analyzer)
            self.key = key
            self.ready: Message | None = None
        self.works = self.ready is None
        self.has_ended = False

    def ask(self, header: Mapping[str, object] | None, data: bytes = b"") -> Message:
        if header is None and self.ready:
            return self.ready
        with CHANGING:
            if self.has_ended:
                raise ChildDied("its parser was ended")
            self.works = True
        answer = super().ask(header, data)
        self.ready = self.ready or answer
        self.works = False
        return answer

    def kill(self) -> None:
        with CHANGING:
            if self.works or self._process.poll() is not None:
                super().kill()
            elif not self.has_ended:
                self.has_ended = True
                IDLE.append(self)
            surplus = IDLE.pop(0) if len(IDLE) > MAX_IDLE else None
        if surplus:
            surplus.end()

    def close(self) -> None:
        if not self.has_ended:
            self.works = True
            super().close()

    def end(self) -> None:
        """End the process, which waited."""
        self.has_ended = False
        self.close()


def end_all() -> None:
    """End the processes that wait."""
    while IDLE:
        IDLE.pop().end()
