"""Processes of their own for what may kill them, forked from a server that has loaded the index once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from file_operations import Operation, heard

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "faiss",
        "hypothesis.stateful",
        "pytest",
        "rankings",
        "spanwise.pipelines.library",
        "sqlite_utils",
        "torch",
        "workload",
    ]
)

Say = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class End:
    """What a child said before it ended, in order, and its exit code: 0, or minus the number of a signal."""

    said: tuple[Any, ...]
    code: int


class Child:
    """A running `task(say, *arguments)`; whatever it says can be heard here, also after it was killed."""

    def __init__(self, task: Callable[..., None], *arguments: Any) -> None:
        self._ours, theirs = CONTEXT.Pipe(duplex=False)
        self._process: ForkServerProcess = CONTEXT.Process(target=_run, args=(task, theirs, *arguments))
        self._process.start()
        theirs.close()

    def hear(self) -> Any:
        """The next thing it says."""
        return self._ours.recv()

    def kill(self) -> None:
        """End it as a power button would end a program: no handler runs."""
        self._process.kill()

    def end(self, timeout_s: float = 120) -> End:
        """Wait for its end; TimeoutError, and death to the child, when that takes too long."""
        said = []
        try:
            while self._ours.poll(timeout_s):
                said.append(self._ours.recv())
        except EOFError:
            self._process.join()
            return End(tuple(said), self._process.exitcode or 0)
        finally:
            self._process.kill()
        raise TimeoutError(f"a child said nothing for {timeout_s} s")


def run(task: Callable[..., None], *arguments: Any, timeout_s: float = 120) -> End:
    """Run a task in a child to its end."""
    return Child(task, *arguments).end(timeout_s)


def _run(task: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    task(pipe.send, *arguments)


@contextmanager
def killed_at(last: int | None, root: Path) -> Iterator[list[Operation]]:
    """Inside, the process dies before its change number `last` (from 0) below `root`; gives those made."""
    made: list[Operation] = []

    def hear(operation: Operation) -> None:
        if len(made) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        made.append(operation)

    with heard(hear, root):
        yield made
