"""Result folders, and their records alone, as what a comparison takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spanwise.errors import DataMalformed

from ...eval.question_record import QuestionRecord, parse_record
from ...eval.significance.pairing import Asked, Scored
from .result_folder import METRICS, RECORDS, ResultFolder


@dataclass(frozen=True, slots=True)
class Source:
    """The systems found at a place, in its order, and what is worth knowing about it, a line each."""

    path: Path
    systems: tuple[Scored, ...]
    notes: tuple[str, ...] = ()

    def named(self, names: Sequence[str]) -> tuple[Scored, ...]:
        """Those of the names that are here, in the order of the names; all when no name is given.

        ValueError when none of them is here.
        """
        by_name = {one.system: one for one in self.systems}
        found = tuple(by_name[name] for name in (names or by_name) if name in by_name)
        if not found:
            raise ValueError(f"{self.path} holds {', '.join(by_name)}; expected {' or '.join(names)}")
        return found


def from_results(folder: Path) -> Source:
    """The systems of a result folder; DataMalformed: it is none, or what `from_records` refuses."""
    source = from_records(folder / RECORDS, ResultFolder.open(folder).records())
    unfinished = (f"{folder} is of an evaluation that has not come to its end",)
    return replace(source, path=folder, notes=() if (folder / METRICS).exists() else unfinished)


def from_records_file(path: Path) -> Source:
    """The systems of a records.jsonl alone; DataMalformed as for `from_results`."""
    return from_records(path, _parsed(path))


def from_records(path: Path, records: Iterable[QuestionRecord]) -> Source:
    """The systems of the records of a file, in the order of their first.

    The golds count as known where there are some, and where a question has none because it has no answer.
    DataMalformed: no records, or two of one system and question.
    """
    scores: dict[str, dict[str, dict[str, float]]] = {}
    asked: dict[str, dict[str, Asked]] = {}
    for record in records:
        measures, questions = scores.setdefault(record.system, {}), asked.setdefault(record.system, {})
        if record.id in questions:
            raise DataMalformed(f"{path}: {record.system} has two records of the question {record.id!r}")
        golds = frozenset(record.golds) if record.golds or not record.answerable else None
        questions[record.id] = Asked(record.question, golds)
        for measure, value in record.scores.items():
            measures.setdefault(measure, {})[record.id] = value
    if not asked:
        raise DataMalformed(f"{path}: holds no records of questions")
    return Source(path, tuple(Scored(system, scores[system], asked[system]) for system in asked))


def _parsed(path: Path) -> Iterator[QuestionRecord]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield parse_record(line.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise DataMalformed(f"{path}, line {number}: {error}") from error
