"""A folder with what an evaluation found: written as it goes on, so that it can be stopped and resumed.

settings.json     the command and its settings; a folder goes on only with the same
records.jsonl     one line for each system and question, see `eval.question_record`
runs/NAME.trec    the ranking of each system that ranks documents
metrics.json      the figures of each system, written when all is done
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from spanwise import __version__
from spanwise.errors import DataMalformed

from ...eval.question_record import QuestionRecord, parse_record, record_line
from ...eval.ranking.trec_run import run_lines, trec_id
from ...index.atomic import make_folder
from ...index.lock import WriteLock

SETTINGS, RECORDS, METRICS, RUNS = "settings.json", "records.jsonl", "metrics.json", "runs"

Ranking = Sequence[tuple[str, float]]


class ResultFolder:
    """The results of one evaluation at `path`; as a context manager it lets go of the lock of `start`."""

    def __init__(self, path: Path, command: str, settings: Mapping[str, Any]) -> None:
        self.path, self.command, self.settings = path, command, settings
        self._lock = WriteLock(path / "write.lock")

    @classmethod
    def start(cls, path: Path, command: str, settings: Mapping[str, Any]) -> Self:
        """A new folder, or the one at `path` when it is of the same command and settings, to go on.

        ValueError: it is of another evaluation, or holds something else. IndexLocked: another process is
        at it. `settings` must be JSON values.
        """
        if (path / SETTINGS).exists():
            found = cls.open(path)
            found._require(command, settings)
            found._lock.acquire()
            found._drop_torn_lines()
            return found
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise ValueError(f"{path} is there and holds no evaluation: name a new or empty folder")
        make_folder(path)
        made = cls(path, command, settings)
        made._lock.acquire()
        record = {"command": command, "settings": dict(settings), "version": __version__, "began": _now()}
        _write_json(path / SETTINGS, record)
        return made

    @classmethod
    def open(cls, path: Path) -> Self:
        """The results at `path`; DataMalformed when there are none or they cannot be read."""
        record = _read_json(path / SETTINGS)
        if not isinstance(record.get("command"), str) or not isinstance(record.get("settings"), dict):
            raise DataMalformed(f"{path / SETTINGS}: expected a command and its settings")
        return cls(path, record["command"], record["settings"])

    def __enter__(self) -> Self:
        """The folder itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let another process go on with it."""
        self._lock.release()

    def add(self, records: Iterable[QuestionRecord], rankings: Mapping[str, Ranking] | None = None) -> None:
        """Keep these records; `rankings` are (document, score), best first, by question id."""
        records = list(records)
        for record in records:
            if rankings and record.id in rankings:
                self._append(
                    self.run_path(record.system), run_lines(record.id, rankings[record.id], record.system)
                )
        self._append(self.path / RECORDS, (record_line(record) + "\n" for record in records))

    def records(self, system: str | None = None) -> Iterator[QuestionRecord]:
        """All records, or those of one system, in the order kept; DataMalformed names the line."""
        path = self.path / RECORDS
        if not path.exists():
            return
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    record = parse_record(line)
                except (ValueError, RecursionError) as error:
                    raise DataMalformed(f"{path}, line {number}: {error}") from error
                if system in (None, record.system):
                    yield record

    def done(self, system: str) -> frozenset[str]:
        """The ids of the questions that this system has a record of."""
        return frozenset(record.id for record in self.records(system))

    def finish(self, systems: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the figures of each system, by the name of the measure."""
        record = {"command": self.command, "settings": dict(self.settings), "systems": dict(systems)}
        _write_json(self.path / METRICS, {**record, "version": __version__, "finished": _now()})

    @property
    def metrics(self) -> dict[str, Any]:
        """What `finish` wrote; DataMalformed when the evaluation has not come to its end."""
        return _read_json(self.path / METRICS)

    def run_path(self, system: str) -> Path:
        """Where the TREC run of a system is."""
        return self.path / RUNS / f"{quote(system, safe='+@')}.trec"

    def _require(self, command: str, settings: Mapping[str, Any]) -> None:
        if self.command != command:
            raise ValueError(f"{self.path} holds the results of `eval {self.command}`: name another folder")
        for name in sorted({*settings, *self.settings}):
            there, here = self.settings.get(name), settings.get(name)
            if there != here:
                was = f"{name} = {there!r:.200}, not {here!r:.200}"
                raise ValueError(f"{self.path} was begun with {was}: name another folder")

    def _append(self, path: Path, lines: Iterable[str]) -> None:
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(lines)

    def _drop_torn_lines(self) -> None:
        """What was cut short is done again: half a record, and rankings without a record."""
        _drop_torn_line(self.path / RECORDS)
        done: dict[Path, set[str]] = {path: set() for path in (self.path / RUNS).glob("*.trec")}
        for record in self.records():
            done.get(self.run_path(record.system), set()).add(trec_id(record.id))
        for path, ids in done.items():
            _keep_questions(path, ids)


def _drop_torn_line(path: Path) -> None:
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)


def _keep_questions(run: Path, ids: set[str]) -> None:
    lines = run.read_text(encoding="utf-8").splitlines(keepends=True)
    temporary = run.with_suffix(".tmp")
    temporary.write_text("".join(line for line in lines if line.split(" ", 1)[0] in ids), encoding="utf-8")
    temporary.replace(run)


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataMalformed(f"{path} is not there: is this the folder of a finished evaluation?") from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error
    if not isinstance(record, dict):
        raise DataMalformed(f"{path}: expected an object")
    return record


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
