"""A result folder: the records of an evaluation, written as it goes on, so that it can be resumed.

settings.json     the command and its settings; a folder is resumed only with the same
records.jsonl     one line for each system and question, see `eval.questions.QuestionRecord`
runs/NAME.trec    the ranking of each system that ranks documents
metrics.json      the figures of each system, written at the end
metrics.md        the same as a table
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from spanwise.errors import DataMalformed
from spanwise.version import __version__

from ...corpora.json_lines import JsonObject, json_lines
from ...eval.questions import Evidence, QuestionRecord

SETTINGS, RECORDS, RUNS = "settings.json", "records.jsonl", "runs"
METRICS, TABLE = "metrics.json", "metrics.md"

Ranking = Sequence[tuple[str, float]]
Figures = dict[str, dict[str, Any]]
"""The value of each measure, by the name of the system."""


class ResultFolder:
    """The results of one evaluation: records in memory, and in the folder at `path` unless it is None."""

    def __init__(self, path: Path | None, command: str, settings: Mapping[str, Any]) -> None:
        self.path, self.command, self.settings = path, command, settings
        self._records: dict[str, dict[str, QuestionRecord]] = {}

    @classmethod
    def start(cls, path: Path | None, command: str, settings: Mapping[str, Any]) -> Self:
        """A new folder, or the unfinished one at `path`; None keeps the results in memory alone.

        ValueError: the folder holds something else, or the results of other settings. `settings` must be
        JSON values.
        """
        if path is None:
            return cls(path, command, settings)
        if (path / SETTINGS).exists():
            whole_lines(path / RECORDS)
            found = cls.open(path)
            found._require(command, settings)
            found._trim_runs()
            return found
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
            found = cls(path, str(record["command"]), dict(record["settings"]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise DataMalformed(f"{path / SETTINGS}: not the settings of an evaluation: {error!r}") from error
        if (path / RECORDS).exists():
            found._remember(read_records(path / RECORDS))
        return found

    def add(self, records: Iterable[QuestionRecord], rankings: Mapping[str, Ranking] | None = None) -> None:
        """Keep these records; `rankings` are (document, score), best first, by question id."""
        records = list(records)
        self._remember(records)
        if self.path is None:
            return
        for record in records:
            if rankings and record.id in rankings:
                lines = run_lines(record.id, rankings[record.id], record.system)
                _append(self.run_path(record.system), lines)
        _append(self.path / RECORDS, map(_line, records))

    def records(self, system: str | None = None) -> list[QuestionRecord]:
        """All records, or those of one system, in the order kept."""
        systems = self._records if system is None else [system]
        return [record for name in systems for record in self._records.get(name, {}).values()]

    def done(self, system: str) -> frozenset[str]:
        """The ids of the questions that this system has a record of."""
        return frozenset(self._records.get(system, ()))

    def finish(self, systems: Figures) -> None:
        """Write the figures of each system, by the name of the measure."""
        if self.path is None:
            return
        record = {"command": self.command, "settings": dict(self.settings), "systems": systems}
        _write_json(self.path / METRICS, {**record, "version": __version__, "finished": _now()})
        rows = table_rows(systems)
        cells = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
        text = "".join(f"| {' | '.join(row)} |\n" for row in cells)
        (self.path / TABLE).write_text(text, encoding="utf-8")

    def run_path(self, system: str) -> Path:
        """The path of the TREC run of a system."""
        if self.path is None:
            raise ValueError("these results are in memory alone: name a folder for them")
        return self.path / RUNS / f"{quote(system, safe='+@')}.trec"

    def _remember(self, records: Iterable[QuestionRecord]) -> None:
        for record in records:
            self._records.setdefault(record.system, {})[record.id] = record

    def _require(self, command: str, settings: Mapping[str, Any]) -> None:
        if self.command != command:
            raise ValueError(f"{self.path} holds the results of `eval {self.command}`: name another folder")
        settings = json.loads(json.dumps(settings))
        for name in sorted({*settings, *self.settings}):
            there, here = self.settings.get(name), settings.get(name)
            if there != here:
                was = f"{name} = {there!r:.200}, not {here!r:.200}"
                raise ValueError(f"{self.path} was started with {was}: name another folder")

    def _trim_runs(self) -> None:
        """Drop rankings without a record: an interrupted write."""
        for system, records in self._records.items():
            run, ids = self.run_path(system), {trec_id(name) for name in records}
            if run.exists():
                lines = run.read_text(encoding="utf-8").splitlines(keepends=True)
                kept = [line for line in lines if line.split(" ", 1)[0] in ids]
                run.write_text("".join(kept), encoding="utf-8")


def run_lines(query: str, ranking: Ranking, tag: str) -> Iterator[str]:
    """The lines of a query in a TREC run, best first: `qid Q0 docid rank score tag`, ranks from 1.

    >>> list(run_lines("q1", [("d7", 2.5)], "bm25"))
    ['q1 Q0 d7 1 2.5 bm25\\n']
    """
    for rank, (document, score) in enumerate(ranking, start=1):
        yield f"{trec_id(query)} Q0 {trec_id(document)} {rank} {float(score)!r} {trec_id(tag)}\n"


def trec_id(name: str) -> str:
    """The id in a run, white space and "%" percent-encoded; ValueError: an empty one.

    >>> trec_id("My notes/mill.md")
    'My%20notes/mill.md'
    """
    if not name:
        raise ValueError("an id is empty; a run cannot hold it")
    return re.sub(r"[\s%]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)


def read_records(path: Path) -> list[QuestionRecord]:
    """The records of a records.jsonl; DataMalformed names the line."""
    return [_question_record(line) for line in json_lines(path)]


def _question_record(line: JsonObject) -> QuestionRecord:
    value, names = line.values, {one.name for one in fields(QuestionRecord)}
    if unknown := sorted(set(value) - names):
        raise line.error(f"the field {unknown[0]!r} is unknown; expected {', '.join(sorted(names))}")
    for name in ("system", "id", "question"):
        line.value(name, str)
    scores = value.get("scores")
    if not isinstance(scores, dict) or not all(
        type(score) in (int, float) and math.isfinite(score) for score in scores.values()
    ):
        raise line.error(f"scores is {scores!r:.80}; expected an object of finite numbers")
    try:
        made: dict[str, Any] = {name: tuple(value.get(name, ())) for name in ("golds", "documents")}
        made["scores"] = {name: float(score) for name, score in scores.items()}
        evidence = tuple(
            Evidence(**{**one, "span": one.get("span") and tuple(one["span"])})
            for one in value.get("evidence", ())
        )
        return QuestionRecord(**{**value, **made, "evidence": evidence})
    except (TypeError, ValueError, AttributeError) as error:
        raise line.error(f"a field has another form than expected: {error}") from error


def table_rows(systems: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """A table of figures, its head first: a row a measure, a column a system; nested figures are left out.

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


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file, none where there is no file; a torn last one is cut off."""
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


def _append(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines)


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
