"""The process beside a server that keeps its index current, as the server sees it.

It is `spanwise index --index DIR --watch`, so that reading files shares neither Python's lock nor memory
with answering, and no crash there ends the server. Its standard input is a pipe that nobody writes to: it
ends when the pipe does, and so when the server does, whatever ended that. One that ends by itself is started
again, a few times, after pauses that grow. Its talk is passed on line by line; how a sync went is told by the
name of the error.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import IO, Literal, cast

PAUSES_S = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
LASTING_S = 600.0  # what ran for so long may fail as often as at first
PATIENCE_S = 15.0  # longer than the process takes to end by itself
KILLED_S = 5.0  # for the system to end what was killed
LONGEST_LINE = 8192  # characters
FAILED = 1  # the exit code of a named error; others are wrong usage, or somebody's wish

# What others are told, without paths; the server's log has the error's own words.
WHY = {
    "FolderNotFound": "an indexed folder is not there",
    "IndexCorrupt": "the index is damaged",
    "IndexLocked": "another process is writing to the index",
    "IndexNotFound": "the index is not there",
    "IndexReadOnly": "the index cannot be written to",
    "ModelNotFound": "a model is not there",
    "ModelRejected": "a model is not what it should be",
    "StorageFull": "the disk is full",
}
LOGGED = "the server's log says why"


@dataclass(frozen=True, slots=True)
class WatchState:
    """How the watching goes: "failing" until a sync succeeds again, "ended" while there is no process."""

    name: Literal["running", "failing", "ended"]
    why: str = ""

    def __str__(self) -> str:
        """The state, and why it is so."""
        return f"{self.name}: {self.why}" if self.why else self.name


RUNNING = WatchState("running")


class IndexWatch:
    """Runs `command` from `start` to `close`; `say` gets each line of its talk, raw, from another thread."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        say: Callable[[str], None],
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        self._command, self._env, self._say, self._pauses_s = list(command), dict(env), say, pauses_s
        self._thread = threading.Thread(target=self._run, name="spanwise-watch", daemon=True)
        self._process: subprocess.Popen[str] | None = None
        self._over = threading.Event()
        self._is_told = False
        self._failure = ""  # of the last sync of this process
        self.state = RUNNING

    def start(self) -> None:
        """Starts the process; that there is none is said, and is no error."""
        self._theirs, self._ours = os.pipe()  # one for all that will be started
        self._thread.start()

    def stop(self) -> None:
        """Tells the process to end, and returns at once; the handler of a signal may call it, also twice."""
        if not self._is_told:
            self._is_told = True
            os.close(self._ours)
            self._over.set()

    def close(self, patience_s: float = PATIENCE_S) -> None:
        """Returns when the process has ended; after `patience_s` it is killed with all that it started."""
        self.stop()
        self._thread.join(patience_s)
        if self._thread.is_alive():
            self._kill()
            self._thread.join(KILLED_S)

    def _kill(self) -> None:
        """Ends the group of the process; it is there until the process has been waited for."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _run(self) -> None:
        """Keeps a process running until it is to end, then gives the pipe back."""
        try:
            self._run_again_and_again()
        finally:
            os.close(self._theirs)

    def _run_again_and_again(self) -> None:
        """Starts the process, and again after each end and a pause, as long as that makes sense."""
        pauses = deque(self._pauses_s)
        while not self._over.is_set():
            began = time.monotonic()
            code = self._run_once()
            if self._over.is_set():
                return
            if time.monotonic() - began >= LASTING_S:
                pauses = deque(self._pauses_s)
            pause_s = pauses.popleft() if pauses and may_be_tried_again(code) else None
            self.state = WatchState("ended", self._why(code))
            again = "" if pause_s is None else f"; it is started again in {pause_s:g} s"
            self._tell(f"{self.state}; what was committed goes on being served{again}")
            if pause_s is None:
                return
            self._over.wait(pause_s)

    def _run_once(self) -> int | None:
        """The exit code of one process; None when the system started none."""
        try:
            process = subprocess.Popen(
                self._command,
                stdin=self._theirs,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._env,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # Ctrl-C is for the server, which ends this process in its turn
            )
        except OSError as error:
            self._tell(f"no process can be started: {error.strerror}")
            return None
        self._process, self._failure = process, ""
        if self.state.name == "ended":  # until a sync succeeds it is no better
            self.state = WatchState("failing", self.state.why)
        syncs, talk = cast(IO[str], process.stdout), cast(IO[str], process.stderr)
        hearing = threading.Thread(target=self._hear, args=(syncs,), daemon=True)
        hearing.start()
        with process:
            for line in _lines(talk):
                self._tell(line)
            hearing.join()
        return process.returncode

    def _hear(self, syncs: IO[str]) -> None:
        """Follows how syncs go: a line for each, empty or with the name of what it failed by."""
        for name in _lines(syncs):
            self._failure = WHY.get(name, LOGGED) if name else ""
            self.state = WatchState("failing", self._failure) if name else RUNNING

    def _tell(self, line: str) -> None:
        with suppress(OSError, ValueError):  # where nobody reads the talk, the process must not wait for that
            self._say(line)

    def _why(self, code: int | None) -> str:
        if code is None:
            return "no process can be started"
        if code == FAILED and self._failure:
            return self._failure
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}, {LOGGED}"


def may_be_tried_again(code: int | None) -> bool:
    """Whether an end may be one of the moment: a named error, a crash, a system that starts no process.

    >>> [may_be_tried_again(code) for code in (None, -11, 1, 0, 2, 130)]
    [True, True, True, False, False, False]
    """
    return code is None or code < 0 or code == FAILED


def _lines(pipe: IO[str]) -> Iterator[str]:
    return (line.rstrip("\n") for line in iter(partial(pipe.readline, LONGEST_LINE), ""))
