"""The calibrations of one reader: one that holds for every retriever, and those fitted for a single one.

What evidence is worth depends on what the reader is given: the rank of a passage means more behind a better
retriever, and how often the best candidate is right depends on how often a right passage is there. Beside the
fields of a `Calibration` the file may hold "retrievers", an object of further ones by the retriever's name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from spanwise.errors import ModelRejected

from .evidence import FORMAT, Calibration

RETRIEVERS = "retrievers"


@dataclass(frozen=True, slots=True)
class Calibrations:
    """`fallback` is for the retrievers that none was fitted for; all are of one reader."""

    fallback: Calibration
    by_retriever: Mapping[str, Calibration] = field(default_factory=dict)

    def of(self, retriever: str) -> Calibration:
        """The calibration to be used behind the retriever of this name, `Retriever.name`."""
        return self.by_retriever.get(retriever, self.fallback)

    def fitted(self, calibration: Calibration, retriever: str, is_fallback: bool) -> Calibrations:
        """These with one more: as the fallback, or for its retriever alone.

        What was fitted for other weights of the reader is dropped; then the new one is the fallback, too.
        """
        fits = calibration.reader == self.fallback.reader
        others = {name: one for name, one in self.by_retriever.items() if fits and name != retriever}
        if is_fallback:
            return Calibrations(calibration, others)
        return Calibrations(self.fallback if fits else calibration, {**others, retriever: calibration})

    def save(self, path: Path) -> None:
        """Writes the file."""
        others = {name: asdict(one) for name, one in sorted(self.by_retriever.items())}
        record = {"format": FORMAT, **asdict(self.fallback)} | ({RETRIEVERS: others} if others else {})
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Calibrations:
        """What was saved, also by `Calibration.save`; ModelRejected when the file is of something else."""
        fallback = Calibration.load(path)
        others = json.loads(path.read_text(encoding="utf-8")).get(RETRIEVERS, {})
        if not isinstance(others, dict):
            raise ModelRejected(f"{path} has {RETRIEVERS} = {others!r:.80}; expected an object")
        found = {name: Calibration.parse(stored, f"{path}, {name}") for name, stored in others.items()}
        if strangers := [name for name, one in found.items() if one.reader != fallback.reader]:
            raise ModelRejected(f"{path}: the calibration for {strangers[0]} is of another reader")
        return cls(fallback, found)
