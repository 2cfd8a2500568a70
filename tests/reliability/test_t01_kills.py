"""T1: a process that is killed at any moment of a write loses nothing it acknowledged and leaves no half."""

import random
import signal
import time
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from crashes import Child, Say, killed_at, run
from helpers.corpora import Corpus
from workload import HISTORY, MERGING, check_recovered, check_stamp, commit_and_die, make_index, write_stamps

import spanwise
from spanwise.index.store import Store


@pytest.mark.times(3, 90, 10**9)
def test_killed_before_a_change_of_a_commit(memory, record, times) -> None:
    points = []
    for number in range(len(HISTORY)) if times > 3 else [MERGING]:
        before = make_index(memory / str(number), number)
        whole = copytree(before, memory / f"{number} and the next")
        *_, n_changes = run(commit_and_die, whole, HISTORY[number], None).messages
        points += [(before, number, last) for last in range(n_changes)]
    times = min(times, len(points))
    for before, number, last in [points[place * len(points) // times] for place in range(times)]:
        path = copytree(before, memory / "killed")
        end = run(commit_and_die, path, HISTORY[number], last)
        assert end.code == -signal.SIGKILL
        check_recovered(path, at_least=max((number, *end.messages)), at_most=number + 1)
        rmtree(path)
    value = f"{times} of {times}, among {len(points)} changes"
    record("T1", "kills at a chosen change of a file survived", value)


def test_killed_at_any_time(memory, record, nightly) -> None:
    path = memory / "stamps"
    draw = random.Random(5)
    Corpus(path).store.close()
    kills = 1500 if nightly else 10
    for _ in range(kills):
        child = Child(write_stamps, path, 10**9)
        first = child.receive()
        time.sleep(draw.random() * 0.1)
        child.kill()
        acknowledged = [first, *child.end().messages][-1]
        with Store.open(path) as store, store.snapshot() as snapshot:
            assert acknowledged <= check_stamp(snapshot) <= acknowledged + 1
            assert store.verify() == []
    record("T1", "kills at random times survived", f"{kills} of {kills}")


def sync_and_die(say: Say, folder: Path, last: int | None) -> None:
    with killed_at(last, folder / ".spanwise") as made, spanwise.open(folder) as library:
        library.sync(vectors=False)
    say(len(made))


OLD = {"kept.txt": "kept words", "edited.txt": "first words", "deleted.txt": "deleted words"}
NEW = {"kept.txt": "kept words", "edited.txt": "second words", "added.md": "added words"}


def texts_of(folder: Path) -> dict[str, str]:
    with spanwise.open(folder) as library:
        assert library.store.verify() == []
        return {name: library.document(name).text for name in library.snapshot.files()}


def test_a_sync_that_is_killed_is_finished_by_the_next(tmp_path, record) -> None:
    folder = tmp_path / "notes"
    before = tmp_path / "before"
    folder.mkdir()
    for files in (OLD, NEW):
        run(sync_and_die, folder, None)
        for name in OLD:
            (folder / name).unlink(missing_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)
    copytree(folder, before)
    (n_changes,) = run(sync_and_die, folder, None).messages
    chosen = range(0, n_changes, n_changes // 10)
    for last in chosen:
        rmtree(folder)
        copytree(before, folder)
        assert run(sync_and_die, folder, last).code == -signal.SIGKILL
        assert texts_of(folder) in (OLD, NEW)
        run(sync_and_die, folder, None)
        assert texts_of(folder) == NEW
    record("T1", "killed syncs finished by the next", f"{len(chosen)} of {len(chosen)}")
