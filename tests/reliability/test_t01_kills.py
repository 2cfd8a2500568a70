"""T1: a process that is killed at any moment of a write loses nothing it acknowledged and leaves no half."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from shutil import copytree, rmtree

import pytest
from children import Child, Say, killed_at, run
from made_corpora import Corpus
from workload import HISTORY, check, check_stamp, commit, unnamed_segments, write_history, write_stamps

import spanwise
from spanwise.index import Store

KILLS, AT_RANDOM, KILLS_NIGHTLY = 100, 10, 1500  # nightly every change of a file has its kill beside these


@pytest.fixture(scope="module")
def states(module_memory: Path) -> list[Path]:
    """An index of each generation, from the empty one on."""
    paths = [module_memory / "0"]
    Corpus(paths[0]).store.close()
    for change in HISTORY:
        paths.append(copytree(paths[-1], module_memory / str(len(paths))))
        with Store.open(paths[-1]) as store:
            commit(store, change)
    return paths


def write_and_die(say: Say, path: Path, number: int, last: int | None) -> None:
    with killed_at(last, path) as made, Store.open(path) as store:
        say(commit(store, HISTORY[number]))
    say(len(made))


def kill_points(states: list[Path], folder: Path) -> list[tuple[int, int]]:
    """(number of the commit, change before which to die): every change of every commit."""
    points = []
    for number in range(len(HISTORY)):
        path = copytree(states[number], folder / "whole")
        points += [(number, last) for last in range(run(write_and_die, path, number, None).said[-1])]
        rmtree(path)
    return points


def spread(points: list[tuple[int, int]], wanted: int) -> list[tuple[int, int]]:
    wanted = min(wanted, len(points))
    return [points[place * len(points) // wanted] for place in range(wanted)]


@pytest.mark.reliability
def test_killed_before_a_change_of_a_commit(states, memory, record, nightly) -> None:
    points = kill_points(states, memory)
    chosen = spread(points, len(points) if nightly else KILLS - AT_RANDOM)
    for number, last in chosen:
        path = copytree(states[number], memory / "killed")
        end = run(write_and_die, path, number, last)
        assert end.code == -signal.SIGKILL
        generation = check(path, at_least=max((number, *end.said)), at_most=number + 1)
        with Store.open(path) as store:
            write_history(store, after=generation)  # the next run finishes the job, and sweeps up
        check(path, len(HISTORY), len(HISTORY))
        assert unnamed_segments(path) == set()
        rmtree(path)
    value = f"{len(chosen)} of {len(chosen)}, among {len(points)} changes"
    record("T1", "kills at a chosen change of a file survived", value)


def test_killed_at_any_time(memory, record, nightly) -> None:
    path, draw = memory / "stamps", random.Random(5)
    Corpus(path).store.close()
    kills = KILLS_NIGHTLY if nightly else AT_RANDOM
    for _ in range(kills):
        child = Child(write_stamps, path, 10**9)
        first = child.hear()
        time.sleep(draw.random() * 0.1)
        child.kill()
        acknowledged = [first, *child.end().said][-1]
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


def fill(folder: Path, files: dict[str, str]) -> None:
    for path in folder.glob("[a-z]*.*"):
        path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text)


def texts_of(folder: Path) -> dict[str, str]:
    with spanwise.open(folder) as library:
        assert library.store.verify() == []
        return {name: library.document(name).text for name in library.snapshot.files()}


@pytest.mark.reliability
def test_a_sync_that_is_killed_is_finished_by_the_next(tmp_path, record) -> None:
    folder, before = tmp_path / "notes", tmp_path / "before"
    folder.mkdir()
    fill(folder, OLD)
    run(sync_and_die, folder, None)
    fill(folder, NEW)
    copytree(folder, before)
    (n_changes,) = run(sync_and_die, folder, None).said
    chosen = range(0, n_changes, n_changes // 10)
    for last in chosen:
        rmtree(folder)
        copytree(before, folder)
        assert run(sync_and_die, folder, last).code == -signal.SIGKILL
        assert texts_of(folder) in (OLD, NEW)
        run(sync_and_die, folder, None)
        assert texts_of(folder) == NEW
    record("T1", "killed syncs finished by the next", f"{len(chosen)} of {len(chosen)}")
