"""What was observed of held-back questions, kept a question a line, so that fitting anew takes seconds.

The first line says what was observed of what; the file goes on only with the same. Features are kept by name
and with six digits, so that a file outlives a feature that is added or dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from ...reader.evidence import FEATURES, Features

RIGHT_F1 = 0.6
"""The F1 from which an answer counts as right, unless it is said otherwise."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A held-back question: its candidates' features and the F1 of each, 0 where nothing is right.

    `said` has one number a candidate, the same where the normalised words are; empty where all differ.
    Questions of one `group`, such as those on one paragraph, are never divided between folds.
    """

    features: tuple[Features, ...]
    f1: tuple[float, ...]
    answerable: bool
    said: tuple[int, ...] = ()
    group: str = ""

    def rounded(self) -> Observed:
        """The same with the six digits that are kept, so that a fit is the same before and after keeping."""
        features = tuple(Features(*(_short(getattr(f, name)) for name in FEATURES)) for f in self.features)
        return replace(self, features=features, f1=tuple(map(_short, self.f1)))

    def right(self, least_f1: float = RIGHT_F1) -> tuple[bool, ...]:
        """Which of the candidates are right."""
        return tuple(one >= least_f1 for one in self.f1)


@dataclass(frozen=True, slots=True)
class ObservedFile:
    """A file of observations; `identity` says whose they are, and is its first line."""

    path: Path
    identity: Mapping[str, Any]

    def read(self) -> list[Observed]:
        """The observations that are there, in order; begins a file that is not there.

        A line that was not finished is dropped. ValueError: of another identity. DataMalformed: a line that
        is no observation.
        """
        lines = self.path.read_bytes().split(b"\n")[:-1] if self.path.is_file() else []
        if not lines:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(_line(self.identity))
            return []
        if self._value(0, lines[0]) != self.identity:
            raise ValueError(f"{self.path} holds other observations: remove it to begin anew")
        found = [self._observed(at, line) for at, line in enumerate(lines[1:], 1)]
        with self.path.open("r+b") as file:
            file.truncate(sum(len(line) + 1 for line in lines))
        return found

    def add(self, observed: Sequence[Observed]) -> None:
        """Keeps some more, behind those that are there."""
        with self.path.open("ab") as file:
            file.writelines(_line(_record(one)) for one in observed)

    def _observed(self, at: int, line: bytes) -> Observed:
        record = self._value(at, line)
        try:
            columns = {name: record["features"].get(name, [0.0] * len(record["f1"])) for name in FEATURES}
            features = tuple(Features(*values) for values in zip(*columns.values(), strict=True))
            counts = {len(features), len(record["f1"]), len(record["said"])}
            if len(counts) > 1:
                raise ValueError(f"columns of {sorted(counts)} candidates")
            return Observed(
                features, tuple(record["f1"]), record["answerable"], tuple(record["said"]), record["group"]
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._error(at, f"no observation: {error!r}") from error

    def _value(self, at: int, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError as error:
            raise self._error(at, f"no JSON: {error}") from error

    def _error(self, at: int, what: str) -> DataMalformed:
        return DataMalformed(f"{self.path}, line {at + 1}: {what}; remove the file to begin anew")


def _record(one: Observed) -> dict[str, Any]:
    columns = {name: [getattr(found, name) for found in one.features] for name in FEATURES}
    return {
        "group": one.group,
        "answerable": one.answerable,
        "f1": list(one.f1),
        "said": list(one.said) or list(range(len(one.features))),
        "features": columns,
    }


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _line(value: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(value, allow_nan=False)}\n".encode()
