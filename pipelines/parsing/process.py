"""One child process as its parent sees it: started, asked, killed when it is late, and why it died."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, cast

from spanwise.errors import SpanwiseError

from .frames import BrokenFrame, receive, send
from .limits import Limits

START = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start.pop('path'); "
    "from spanwise.pipelines.parsing.child import main; main(**start)"
)
# What a child gets of the environment; the rest, passwords and keys among it, is not its business.
KEPT = frozenset(
    "PATH HOME LANG LANGUAGE LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP SYSTEMROOT LD_LIBRARY_PATH "
    "PYTHONHOME PYTHONPATH PYTHONHASHSEED PYTHONUTF8".split()
)
# Libraries set address space aside for every core, and that counts as memory.
LEAN = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
ANSWER_BLOCKS = 3
LAST_WORDS = 200  # characters
TICK_S = 0.5
GRACE_S = 2.0  # between the end of a pipe and the end of its process

Message = tuple[dict[str, Any], list[bytes]]


class ChildDied(Exception):
    """There is no answer and will be none; the message is the reason to reject the file asked for."""

    def __init__(self, reason: str, late: bool = False) -> None:
        super().__init__(reason)
        self.late = late


class ChildProcess:
    """A running child. `ask` is for one thread, `kill` for any; `close` comes last."""

    def __init__(self, limits: Limits, process: subprocess.Popen[bytes], stderr: BinaryIO) -> None:
        self._lent = self._limits = limits  # in general, and for the file that it is at
        self._process, self._stderr = process, stderr
        self._requests, self._answers = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
        self._due = math.inf  # when the answer is late, by `time.monotonic`
        self._late = False
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="spanwise-clock", daemon=True).start()

    @classmethod
    def start(
        cls,
        limits: Limits,
        analyzer: Mapping[str, str],
    ) -> ChildProcess:
        """A child that imports what its parent would; `SpanwiseError` when the system starts none."""
        path = [str(Path(entry).absolute()) for entry in sys.path]
        settings = {"limits": asdict(limits), "analyzer": dict(analyzer)}
        start = {"path": path, **settings}
        stderr = tempfile.TemporaryFile()  # noqa: SIM115, `close` closes it
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", START, json.dumps(start)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={name: value for name, value in os.environ.items() if name in KEPT} | LEAN,
                start_new_session=True,  # Ctrl-C is for the parent, which ends its children
            )
        except OSError as error:
            stderr.close()
            raise SpanwiseError(f"no process can be started to read files: {error.strerror}") from error
        return cls(limits, process, cast(BinaryIO, stderr))

    def wait_until_ready(self) -> None:
        """Returns once the child waits for requests; `ChildDied` when it never will."""
        self._exchange({}, None)

    def ask(self, header: Mapping[str, object], data: bytes) -> Message:
        """The answer to a request; `ChildDied` when the child crashed, was late, or talks nonsense."""
        self._stderr.seek(0)
        self._stderr.truncate()
        self._limits = self._lent.for_file(len(data))
        return self._exchange(header, data)

    def kill(self) -> None:
        """End the child and what it started at once; whoever waits for its answer gets `ChildDied`."""
        if sys.platform == "win32":
            self._process.kill()
        elif self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the child, if it still runs, and release its pipes."""
        self._closed.set()
        self.kill()
        self._process.wait()
        with suppress(OSError):  # what was not yet written has no reader any more
            self._requests.close()
        self._answers.close()
        self._stderr.close()

    def _exchange(self, header: Mapping[str, object], data: bytes | None) -> Message:
        answer = None
        self._due = time.monotonic() + self._limits.wall_s
        try:
            if data is not None:
                send(self._requests, header, data)
            answer = receive(self._answers, ANSWER_BLOCKS)
        except (OSError, BrokenFrame):
            pass  # `_death` finds out why
        finally:
            self._due = math.inf
        if answer is None:
            raise self._death()
        return answer

    def _watch(self) -> None:
        """Kill the child when it is late; reading a pipe has no time-out that works on every system."""
        while not self._closed.wait(TICK_S):
            if time.monotonic() > self._due:
                self._late = True
                self.kill()
                return

    def _death(self) -> ChildDied:
        if self._late:
            return ChildDied(self._limits.over_wall(), late=True)
        try:
            status = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return ChildDied("its parser gave an answer that makes no sense")
        return ChildDied(self._limits.cause_of_death(status, self._last_words()))

    def _last_words(self) -> str:
        """The last line on the standard error, where a crash often says what it was."""
        self._stderr.seek(0)
        lines = self._stderr.read(1 << 20).decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:LAST_WORDS] if lines else ""
