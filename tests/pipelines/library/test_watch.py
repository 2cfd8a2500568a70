"""A watched folder is searched as it is now: changes, errors and a folder that goes and comes back."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.library.watch import Watch, is_relevant
from spanwise.types import SyncReport


@pytest.mark.reliability
def test_changes_and_a_missing_folder_are_followed_until_it_is_interrupted(
    folder: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    papers = tmp_path / "papers"
    papers.mkdir()
    command = [sys.executable, "-m", "spanwise", "index", folder, papers, "--index", folder / "index"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with log.open("wb") as out:
        child = subprocess.Popen(
            [*command, "--lexical-only", "--watch"], stdout=out, stderr=subprocess.STDOUT, env=environment
        )

    def says(text: str) -> None:
        until = time.monotonic() + 60
        while text not in log.read_text():
            assert time.monotonic() < until, f"not {text!r}: {log.read_text()}"
            time.sleep(0.05)

    try:
        says("watching")
        (folder / "new.txt").write_text("A ferry.\n")
        says("1 added, 0 updated, 0 deleted, 3 unchanged")
        (papers / "p.txt").write_text("A paper.\n")
        says("1 added, 0 updated, 0 deleted, 4 unchanged")
        (folder / "new.txt").unlink()
        says("1 deleted, 4 unchanged")
        away = folder.rename(tmp_path / "away")
        says("catalog.sqlite is gone")  # the index lies in the folder
        away.rename(folder)
        (folder / "newer.txt").write_text("A ferry.\n")
        says("1 added, 0 updated, 0 deleted, 4 unchanged")
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.wait()


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


def test_a_folder_that_goes_just_before_it_is_watched_is_waited_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes after `run` found it, when nothing can be watched. Later changes are noticed all the same."""
    monkeypatch.setattr("spanwise.pipelines.library.watch.RETRY_S", 0.2)
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
            current = states()
            if not told and folder.exists():
                folder.rename(tmp_path / "away")
            return current

        monkeypatch.setattr(watch, "_states", goes)
        with pytest.raises(KeyboardInterrupt):
            watch.run(delay_s=0.1)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sub/a.txt", True),
        ("sub/.spanwiseignore", True),
        (".spanwise/catalog.sqlite", False),
        ("index/segments/x", False),
        (".git/HEAD", False),
        ("node_modules/a.js", False),
        (".hidden", False),
    ],
)
def test_only_files_that_a_sync_reads_are_relevant(tmp_path: Path, name: str, expected: bool) -> None:
    assert is_relevant(tmp_path / name, [tmp_path, tmp_path / "other"], tmp_path / "index") is expected
