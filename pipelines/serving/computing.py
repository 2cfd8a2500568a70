"""The one thread that computes: jobs in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread

Job = Callable[[], None]


class ComputingThread:
    """A daemon thread, started with the first job. A job must catch what it raises itself."""

    def __init__(self) -> None:
        self._jobs = SimpleQueue[Job | None]()
        self._lock = Lock()
        self._thread: Thread | None = None

    def do(self, job: Job) -> None:
        """Put a job behind those that wait."""
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="spanwise-computing", daemon=True)
                self._thread.start()
        self._jobs.put(job)

    def stop(self, timeout_s: float) -> bool:
        """End behind the jobs that wait; False when that takes longer than `timeout_s`."""
        with self._lock:
            thread = self._thread
        if thread is None:
            return True
        self._jobs.put(None)
        thread.join(timeout_s)
        return not thread.is_alive()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
