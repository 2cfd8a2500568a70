"""One device's encoder in a process of its own: a process drives one GPU, and Python's lock holds back none.

Processes are spawned, never forked: a GPU's state does not survive a fork.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import OutOfMemory, SpanwiseError, WorkerFailed

Rows = Sequence[Any]  # sequences of token ids, with what else the encoder has to know of each


class RowEncoder(Protocol):
    """What runs in the process."""

    def encode_rows(self, rows: Rows) -> NDArray[np.float32]:
        """The vectors of all rows, one row's after another's: (n, width), or more than one a row."""
        ...


class DeviceWorker:
    """Encodes on one device; `load(device)` makes the encoder there, in the process, when it starts.

    It is for one thread at a time. Raises WorkerFailed when the process could not load, failed or ended.
    """

    def __init__(self, load: Callable[[str], RowEncoder], device: str) -> None:
        self.device = device
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, load, device), daemon=True)
        self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def encode_rows(self, rows: Rows) -> NDArray[np.float32]:
        """The vectors of all rows, float32, one row's after another's."""
        try:
            self._pipe.send(rows)
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            self._process.join(timeout=5)
            code = self._process.exitcode
            raise WorkerFailed(f"the process that encodes on {self.device} ended with {code}") from error
        if isinstance(answer, SpanwiseError):
            raise answer
        vectors: NDArray[np.float32] = answer
        return vectors

    def close(self) -> None:
        """End the process, whatever it is at."""
        self._process.terminate()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, load: Callable[[str], RowEncoder], device: str) -> None:
    """Answers each list of rows, until nobody is left to ask."""
    encoder: RowEncoder | None = None
    while True:
        try:
            rows = pipe.recv()
        except EOFError:
            return
        try:
            encoder = encoder or load(device)
            answer: NDArray[np.float32] | SpanwiseError = encoder.encode_rows(rows)
        except OutOfMemory as error:
            answer = error
        except Exception as error:
            answer = WorkerFailed(f"encoding on {device} failed: {type(error).__name__}: {error}")
        pipe.send(answer)
