"""The process of one engine as its parent sees it: started, asked, and ended with all it has started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Self, cast

from ...parsing.frames import BrokenFrame, receive, send
from .pinning import pinned_environment, processors
from .registry import Entrant

START = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start.pop('path'); "
    "from spanwise.pipelines.evaluation.speed.child import main; main(**start)"
)
LIMIT_S = 900.0
GRACE_S = 2.0  # between the end of a pipe and the end of its process
LAST_WORDS = 200  # characters


class EngineFailed(Exception):
    """An engine gives no answer and will give none; the message is the reason, in one line."""


class EngineProcess:
    """A running engine; as a context manager it ends the process, whatever it is at."""

    def __init__(
        self, entrant: Entrant, corpus: Path, folder: Path, threads: int, limit_s: float = LIMIT_S
    ) -> None:
        self.entrant, self.limit_s, self._late = entrant, limit_s, False
        start = {
            "path": [str(Path(entry).absolute()) for entry in sys.path],
            "module": entrant.module,
            "class_name": entrant.class_name,
            "cpus": processors(threads),
            "corpus": str(corpus),
            "folder": str(folder),
        }
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115, `__exit__` closes it
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, json.dumps(start)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=os.environ | pinned_environment(threads),
            start_new_session=True,  # Ctrl-C is for the parent, which ends its children
        )
        self._requests = cast(BinaryIO, self._process.stdin)
        self._answers = cast(BinaryIO, self._process.stdout)

    def __enter__(self) -> Self:
        """The process itself, which may not be ready yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, and what it has started, at once."""
        self._kill()
        self._process.wait()
        for pipe in (self._requests, self._answers, self._stderr):
            with suppress(OSError):  # what was not yet written has no reader any more
                pipe.close()

    def wait_until_ready(self) -> None:
        """Returns once the engine is prepared; `EngineFailed` when it never will be."""
        self._exchange(None)

    def ask(self, do: str, **arguments: Any) -> Any:
        """The answer to a request, see `child.Work.do`; `EngineFailed` when there is none."""
        answer = self._exchange({"do": do, **arguments})
        return answer["found"] if do == "find" else answer["seconds"]

    def _exchange(self, request: dict[str, Any] | None) -> dict[str, Any]:
        clock = threading.Timer(self.limit_s, self._end_late)
        clock.daemon = True
        clock.start()
        try:
            answer = self._answer(request)
        except (OSError, BrokenFrame):
            answer = None
        finally:
            clock.cancel()
        if answer is None:
            raise EngineFailed(self._death())
        if "failed" in answer:
            raise EngineFailed(" ".join(str(answer["failed"]).split())[:LAST_WORDS])
        return answer

    def _answer(self, request: dict[str, Any] | None) -> dict[str, Any] | None:
        if request is not None:
            send(self._requests, request)
        message = receive(self._answers, 0)
        return None if message is None else message[0]

    def _end_late(self) -> None:
        self._late = True
        self._kill()

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
        elif self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _death(self) -> str:
        """Why the process ended: its signal or exit code, and the last line that it wrote."""
        if self._late:
            return f"no answer after {self.limit_s:g} s"
        try:
            status = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return "an answer that makes no sense"
        how = f"ended by {signal.Signals(-status).name}" if status < 0 else f"exit code {status}"
        self._stderr.seek(0)
        lines = self._stderr.read(1 << 20).decode("utf-8", "replace").strip().splitlines()
        return f"{how}: {lines[-1][:LAST_WORDS]}" if lines else how
