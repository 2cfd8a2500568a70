"""Result folders of evaluations, which can be resumed, and `eval compare`, which compares two systems.

A folder holds:

settings.json     the command and its settings; a folder is resumed only with the same
records.jsonl     one line for each system and question, see `eval.questions.QuestionRecord`
metrics.json      the figures of each system, written at the end
metrics.md        the same as a table

`eval compare` compares question by question, with a paired randomisation test.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from spanwise.errors import DataMalformed
from spanwise.version import __version__

from ...corpora.json_lines import JsonObject, json_lines
from ...eval.questions import Evidence, QuestionRecord
from ...eval.significance import Alternative, Comparison, compare

SETTINGS = "settings.json"
RECORDS = "records.jsonl"

Figures = dict[str, dict[str, Any]]
"""The value of each measure, by the name of the system."""


class ResultFolder:
    """The results of one evaluation: records in memory, and in the folder at `path` unless it is None."""

    def __init__(self, path: Path | None, command: str, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.command = command
        self.settings = settings
        self._records: dict[str, dict[str, QuestionRecord]] = {}

    @classmethod
    def start(cls, path: Path | None, command: str, settings: Mapping[str, Any]) -> Self:
        """A new folder, or the unfinished one at `path`; None keeps the results in memory only.

        `settings` must be JSON values. ValueError if the folder holds something else, or the results of other
        settings.
        """
        if path is None:
            return cls(path, command, settings)
        if (path / SETTINGS).exists():
            whole_lines(path / RECORDS)
            results = cls.open(path)
            results._require(command, settings)
            return results
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise ValueError(f"{path} holds no evaluation: name a new or empty folder")
        path.mkdir(parents=True, exist_ok=True)
        record = {"command": command, "settings": dict(settings), "version": __version__, "began": _now()}
        _write_json(path / SETTINGS, record)
        return cls(path, command, settings)

    @classmethod
    def open(cls, path: Path) -> Self:
        """The results at `path`; DataMalformed when there are none or they cannot be read."""
        try:
            record = json.loads((path / SETTINGS).read_text(encoding="utf-8"))
            results = cls(path, str(record["command"]), dict(record["settings"]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise DataMalformed(f"{path / SETTINGS}: not the settings of an evaluation: {error!r}") from error
        if (path / RECORDS).exists():
            results._remember(read_records(path / RECORDS))
        return results

    def add(self, records: Iterable[QuestionRecord]) -> None:
        """Add these records."""
        records = list(records)
        self._remember(records)
        if self.path is not None:
            with (self.path / RECORDS).open("a", encoding="utf-8") as file:
                file.writelines(map(_line, records))

    def records(self, system: str | None = None) -> list[QuestionRecord]:
        """All records, or those of one system, in the order of `add`."""
        systems = self._records if system is None else [system]
        return [record for name in systems for record in self._records.get(name, {}).values()]

    def question_ids(self, system: str) -> frozenset[str]:
        """The ids of the questions that this system has a record of."""
        return frozenset(self._records.get(system, ()))

    def finish(self, systems: Figures) -> None:
        """Write the figures of each system, by the name of the measure."""
        if self.path is None:
            return
        record = {"command": self.command, "settings": dict(self.settings), "systems": systems}
        _write_json(self.path / "metrics.json", {**record, "version": __version__, "finished": _now()})
        text = markdown_table(*table_rows(systems))
        (self.path / "metrics.md").write_text(f"{text}\n", encoding="utf-8")

    def _remember(self, records: Iterable[QuestionRecord]) -> None:
        for record in records:
            self._records.setdefault(record.system, {})[record.id] = record

    def _require(self, command: str, settings: Mapping[str, Any]) -> None:
        if self.command != command:
            raise ValueError(f"{self.path} holds the results of `eval {self.command}`: name another folder")
        settings = json.loads(json.dumps(settings))
        for name in sorted({*settings, *self.settings}):
            before = self.settings.get(name)
            now = settings.get(name)
            if before != now:
                change = f"{name} = {before!r:.200}, not {now!r:.200}"
                raise ValueError(f"{self.path} was started with {change}: name another folder")


def read_records(path: Path) -> list[QuestionRecord]:
    """The records of a records.jsonl; DataMalformed names the line."""
    return [_question_record(line) for line in json_lines(path)]


def _question_record(line: JsonObject) -> QuestionRecord:
    value = line.values
    names = {field.name for field in fields(QuestionRecord)}
    unknown = sorted(set(value) - names)
    if unknown:
        raise line.error(f"the field {unknown[0]!r} is unknown; expected {', '.join(sorted(names))}")
    for name in ("system", "id", "question"):
        line.value(name, str)
    scores = value.get("scores")
    if not isinstance(scores, dict) or not all(
        type(score) in (int, float) and math.isfinite(score) for score in scores.values()
    ):
        raise line.error(f"scores is {scores!r:.80}; expected an object of finite numbers")
    try:
        typed = {
            "golds": tuple(value.get("golds", ())),
            "documents": tuple(value.get("documents", ())),
            "scores": {name: float(score) for name, score in scores.items()},
            "evidence": tuple(
                Evidence(**{**passage, "span": passage.get("span") and tuple(passage["span"])})
                for passage in value.get("evidence", ())
            ),
        }
        return QuestionRecord(**{**value, **typed})
    except (TypeError, ValueError, AttributeError) as error:
        raise line.error(f"a field has another form than expected: {error}") from error


def table_rows(systems: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """A table of figures with its head: one row per measure, one column per system, no nested figures.

    >>> table_rows({"bm25": {"questions": 4, "rr": 0.25, "by_type": {}}})
    [['', 'bm25'], ['questions', '4'], ['rr', '0.2500']]
    """
    names = dict.fromkeys(
        name
        for figures in systems.values()
        for name, value in figures.items()
        if isinstance(value, int | float)
    )
    rows = [[name, *(_cell(figures.get(name)) for figures in systems.values())] for name in names]
    return [["", *systems], *rows]


def markdown_table(head: Sequence[str], *rows: Sequence[str]) -> str:
    """The lines of a table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file, none without a file; an incomplete last line is removed from the file."""
    *lines, torn = (path.read_bytes() if path.is_file() else b"").split(b"\n")
    if torn:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - len(torn))
    return lines


def digest(values: Any) -> str:
    """The sha256 of JSON values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _cell(value: Any) -> str:
    if value is None or isinstance(value, int):
        return "" if value is None else f"{value:,}"
    return f"{value:.2f}" if abs(value) > 1 else f"{value:.4f}"


def _line(record: QuestionRecord) -> str:
    return json.dumps(asdict(record), ensure_ascii=False, allow_nan=False) + "\n"


def write_whole(path: Path, text: str) -> None:
    """Write a text file, which appears when it is complete."""
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    unfinished.replace(path)


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(record, ensure_ascii=False, indent=1) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Comparison of two systems


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Two systems by each measure that both have.

    baseline, system: their names.
    alternative: "two-sided", or "less": is the system worse than the baseline?
    measures: the comparison by each measure.
    questions: the text of each question, by id.
    left_out: the questions that cannot be compared.
    """

    baseline: str
    system: str
    alternative: Alternative
    measures: dict[str, Comparison]
    questions: dict[str, str]
    left_out: tuple[str, ...]

    def losses(self, alpha: float = 0.05) -> list[str]:
        """The measures by which the system is significantly worse, with p below alpha."""
        return [name for name, row in self.measures.items() if row.difference < 0 and row.p < alpha]

    def record(self) -> dict[str, Any]:
        """The comparison as JSON values, with the scores of every question."""
        return {
            "baseline": self.baseline,
            "system": self.system,
            "alternative": self.alternative,
            "left_out": list(self.left_out),
            "measures": {name: self._measure_record(row) for name, row in self.measures.items()},
        }

    def _measure_record(self, comparison: Comparison) -> dict[str, Any]:
        record = asdict(comparison) | {"questions": comparison.questions, "difference": comparison.difference}
        for kind in ("wins", "losses", "ties"):
            record[kind] = [change | {"question": self.questions[change["id"]]} for change in record[kind]]
        return record


def compare_results(
    paths: Sequence[Path],
    systems: Sequence[str] = (),
    measures: Sequence[str] = (),
    alternative: Alternative = "two-sided",
) -> SystemComparison:
    """The second system compared with the first, the baseline.

    Paths are result folders or their records.jsonl: two with one system each, or any that hold the two
    named `systems`. Questions that only one of them was asked, or whose text or answers changed, are left
    out. ValueError: not two systems, or a measure that they do not share.
    """
    (baseline, before), (system, after) = _pair(paths, systems)
    common = [qid for qid in before if qid in after and _is_same(before[qid], after[qid])]
    measured = dict.fromkeys(name for qid in common for name in before[qid].scores)
    shared = {
        name: [qid for qid in common if name in before[qid].scores and name in after[qid].scores]
        for name in measured
    }
    shared = {name: ids for name, ids in shared.items() if ids}
    if not shared:
        raise DataMalformed(f"{baseline} and {system} share no question with a score of the same measure")
    lacking = [name for name in measures if name not in shared]
    if lacking:
        raise ValueError(f"{baseline} and {system} do not share {lacking[0]!r}; expected {', '.join(shared)}")
    comparisons = {
        name: compare(
            {qid: before[qid].scores[name] for qid in ids},
            {qid: after[qid].scores[name] for qid in ids},
            alternative,
        )
        for name, ids in shared.items()
        if not measures or name in measures
    }
    texts = {qid: before[qid].question for qid in common}
    left_out = tuple(sorted((before.keys() | after.keys()) - set(common)))
    return SystemComparison(baseline, system, alternative, comparisons, texts, left_out)


def _is_same(before: QuestionRecord, after: QuestionRecord) -> bool:
    return before.question == after.question and set(before.golds) == set(after.golds)


def _pair(paths: Sequence[Path], systems: Sequence[str]) -> list[tuple[str, dict[str, QuestionRecord]]]:
    """The two systems with their records by question; those with the same name are called by their paths."""
    chosen: list[tuple[str, dict[str, QuestionRecord]]] = []
    names: list[str] = []
    for path in paths:
        by_system: dict[str, dict[str, QuestionRecord]] = {}
        records = ResultFolder.open(path).records() if path.is_dir() else read_records(path)
        if not records:
            raise DataMalformed(f"{path}: holds no records of questions")
        for record in records:
            if record.id in by_system.setdefault(record.system, {}):
                raise DataMalformed(f"{path}: {record.system} has two records of the question {record.id!r}")
            by_system[record.system][record.id] = record
        names += by_system
        if not systems and len(paths) > 1 and len(by_system) > 1:
            raise ValueError(
                f"{path} holds several systems ({', '.join(by_system)}): choose two with --system"
            )
        for name in systems or by_system:
            if name in by_system:
                chosen.append((f"{path}:{name}" if len(paths) > 1 else name, by_system[name]))
    if len(chosen) != 2:
        raise ValueError(
            f"expected two systems to compare, found {len(chosen)} of {', '.join(names) or 'none'}"
        )
    return chosen
