"""One writer at a time, by a lock of the operating system that a dying process cannot leave behind."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from spanwise.errors import IndexLocked

_RETRY_S = 0.02


class WriteLock:
    """Holds `flock` on one file from `acquire` to `release`, or to the death of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def acquire(self, timeout_s: float = 0.0) -> None:
        """Take the lock, or raise `IndexLocked` when it is not free within `timeout_s` (0: at once)."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._wait_for(file, time.monotonic() + timeout_s)
            os.ftruncate(file, 0)
            os.write(file, f"{os.getpid()}\n".encode("ascii"))
        except BaseException:
            os.close(file)
            raise
        self._file = file

    def _wait_for(self, file: int, deadline: float) -> None:
        while not _locked(file):
            if time.monotonic() >= deadline:
                holder = os.read(file, 32).decode("ascii", "replace").strip() or "unknown"
                raise IndexLocked(
                    f"{self._path.parent} is being written by process {holder}: try again when that has ended"
                )
            time.sleep(_RETRY_S)

    def release(self) -> None:
        """Let the next writer in; without a lock nothing happens."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
