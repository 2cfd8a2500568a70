"""Scores as they are made, a batch of lists a line, so that what was interrupted can go on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

Rows = list[list[float]]


@dataclass(frozen=True, slots=True)
class KeptScores:
    """A file of scores; `identity` says whose scores of what they are, and is its first line."""

    path: Path
    identity: Mapping[str, str]

    def read(self, lengths: Sequence[int], at_once: int) -> Rows:
        """The scores of the lists that are done, of these lengths, in order; begins a file that is not there.

        A line that was not finished is dropped. ValueError: of another identity. DataMalformed: a line that
        does not fit the lists.
        """
        lines = self.path.read_bytes().split(b"\n")[:-1] if self.path.is_file() else []
        if not lines:
            self.path.write_bytes(_line(self.identity))
            return []
        if self._value(0, lines[0]) != self.identity:
            raise ValueError(f"{self.path} holds scores of other lists or by another teacher: name another")
        rows: Rows = []
        for at, line in enumerate(lines[1:], 1):
            batch = self._value(at, line)
            if _lengths(batch) != list(lengths[len(rows) : len(rows) + at_once]):
                raise self._error(at, "not the scores of these lists")
            rows += batch
        with self.path.open("r+b") as file:
            file.truncate(sum(len(line) + 1 for line in lines))
        return rows

    def add(self, batch: Rows) -> Rows:
        """Keeps the scores of a batch, and returns them."""
        with self.path.open("ab") as file:
            file.write(_line(batch))
        return batch

    def _value(self, at: int, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError as error:
            raise self._error(at, f"no JSON: {error}") from error

    def _error(self, at: int, what: str) -> DataMalformed:
        return DataMalformed(f"{self.path}, line {at + 1}: {what}; remove the file to begin anew")


def _line(value: Mapping[str, str] | Rows) -> bytes:
    return f"{json.dumps(value, allow_nan=False)}\n".encode()


def _lengths(batch: Any) -> list[int] | None:
    """How long the rows are; None for what are no rows of finite numbers."""
    if not isinstance(batch, list) or not all(isinstance(row, list) for row in batch):
        return None
    finite = all(isinstance(value, float) and math.isfinite(value) for row in batch for value in row)
    return [len(row) for row in batch] if finite else None
