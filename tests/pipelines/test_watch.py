"""A watched folder is searched as it is now: changes, errors and a folder that goes and comes back."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.watch import Watch, is_relevant
from spanwise.types import SyncReport

WAIT_S = 60


class Child:
    """A `spanwise index --watch` with its lines, of stdout and of stderr."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "spanwise", "index", *map(str, arguments), "--lexical-only"]
        self.process = subprocess.Popen(
            [*command, "--watch"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def line_with(self, text: str) -> str:
        seen: list[str] = []
        while not seen or text not in seen[-1]:
            try:
                seen.append(self.lines.get(timeout=WAIT_S))
            except queue.Empty:
                pytest.fail(f"no line with {text!r} in {WAIT_S} s, only {seen}")
        return seen[-1]

    def stop(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        code = self.process.wait(WAIT_S)
        self.reader.join(WAIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def child(folder: Path, tmp_path: Path) -> Iterator[Child]:
    (tmp_path / "papers").mkdir()
    inside = os.path.relpath(folder / "index")  # its own changes must not wake it
    started = Child(folder, tmp_path / "papers", "--index", inside)
    yield started
    if started.process.returncode is None:
        started.stop(signal.SIGKILL)


@pytest.mark.reliability
def test_changes_are_followed_until_it_is_interrupted(child: Child, folder: Path, tmp_path: Path) -> None:
    child.line_with("watching")
    (folder / "new.txt").write_text("A ferry.\n")
    assert "1 added, 0 updated, 0 deleted, 3 unchanged" in child.line_with("added")
    (tmp_path / "papers" / "p.txt").write_text("A paper.\n")
    child.line_with("1 added, 0 updated, 0 deleted, 4 unchanged")
    (folder / "new.txt").unlink()
    child.line_with("1 deleted")
    assert child.stop(signal.SIGINT) == 0


def test_its_own_writing_does_not_wake_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    changed = threading.Event()
    changed_when_synced: list[bool] = []

    def change() -> None:
        changed.set()
        (folder / "new.txt").write_text("A ferry.\n")

    with spanwise.open(folder, "notes/index") as library:

        def sync() -> SyncReport:
            changed_when_synced.append(changed.is_set())
            if len(changed_when_synced) == 2:
                raise KeyboardInterrupt
            threading.Timer(2, change).start()
            return library.sync(vectors=False)

        with pytest.raises(KeyboardInterrupt):
            Watch(library, sync, lambda report: None, pytest.fail).run(delay_s=0.1)
    assert changed_when_synced == [False, True]


@pytest.mark.reliability
def test_a_folder_that_goes_is_told_and_waited_for(child: Child, folder: Path, tmp_path: Path) -> None:
    child.line_with("watching")
    away = folder.rename(tmp_path / "away")
    child.line_with("catalog.sqlite is gone")  # the index lies in the folder
    away.rename(folder)
    (folder / "new.txt").write_text("A ferry.\n")
    child.line_with("1 added, 0 updated, 0 deleted, 3 unchanged")
    assert child.stop(signal.SIGINT) == 0


def test_a_folder_that_goes_just_before_it_is_watched_is_waited_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes after `run` found it, when nothing can be watched. Later changes are noticed all the same."""
    monkeypatch.setattr("spanwise.pipelines.watch.RETRY_S", 0.2)
    told: list[str] = []

    def failed(message: str) -> None:
        told.append(message)
        (tmp_path / "away").rename(folder)

    def heard(report: SyncReport) -> None:
        if report.added == ("new.txt",):
            raise KeyboardInterrupt
        threading.Timer(1.5, (folder / "new.txt").write_text, ["A ferry.\n"]).start()

    with spanwise.open(folder, tmp_path / "index") as library:
        watch = Watch(library, lambda: library.sync(vectors=False), heard, failed)
        states = watch._states

        def goes() -> object:
            found = states()
            if not told and folder.exists():
                folder.rename(tmp_path / "away")
            return found

        monkeypatch.setattr(watch, "_states", goes)
        with pytest.raises(KeyboardInterrupt):
            watch.run(delay_s=0.1)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.txt", True),
        ("sub/a.txt", True),
        (".spanwiseignore", True),
        ("sub/.spanwiseignore", True),
        (".spanwise/catalog.sqlite", False),
        ("index/segments/x", False),
        (".git/HEAD", False),
        ("node_modules/a.js", False),
        (".hidden", False),
    ],
)
def test_what_a_sync_could_see_is_relevant(tmp_path: Path, name: str, expected: bool) -> None:
    assert is_relevant(tmp_path / name, [tmp_path, tmp_path / "other"], tmp_path / "index") is expected
