"""T7: on a full disk, in a read-only place or without its folder, an index says so and loses nothing."""

import errno
import os
import resource
import shutil
import signal
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from crashes import Operation, Say, recorded, run
from helpers.corpora import Corpus
from workload import HISTORY, MERGING, check, check_recovered, commit, make_index

from spanwise.errors import IndexNotFound, IndexReadOnly, StorageFull
from spanwise.index.store import Store

POINTS = 50
NEEDS_ROOM = {"create", "mkdir", "write", "sync"}


@pytest.fixture
def before(memory: Path) -> Path:
    """An index before the commit that merges, in memory."""
    return make_index(memory / "before", MERGING)


class Filling:
    """A listener for which the disk is full from one change on that needs room; `None`: never."""

    def __init__(self, room_for: int | None) -> None:
        self._room_for = room_for
        self.phases: list[tuple[str, str]] = []

    def __call__(self, operation: Operation) -> None:
        if operation.kind not in NEEDS_ROOM:
            return
        if len(self.phases) == self._room_for:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.phases.append((operation.kind, operation.path.suffix))


def commit_until_full(path: Path, room_for: int | None) -> list[tuple[str, str]]:
    filling = Filling(room_for)
    with suppress(StorageFull), recorded(filling, path), Store.open(path) as store:
        commit(store, HISTORY[MERGING])
    return filling.phases


@pytest.mark.times(2, POINTS, 10**9)
def test_the_disk_is_full_at_any_change(before, memory, record, times) -> None:
    n_changes = len(commit_until_full(shutil.copytree(before, memory / "whole"), None))
    times = min(times, n_changes)
    for number in range(times):
        path = shutil.copytree(before, memory / "full")
        commit_until_full(path, number * (n_changes - 1) // (times - 1))
        check_recovered(path, MERGING, MERGING + 1)
        shutil.rmtree(path)
    value = f"{times} of {times}, among {n_changes} changes"
    record("T7", "full disks at a chosen change of a file survived", value)


def commit_with_files_up_to(say: Say, path: Path, limit: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        with Store.open(path) as store:
            say(f"generation {commit(store, HISTORY[MERGING])}")
    except StorageFull as error:
        say(str(error))


def test_no_file_may_grow_beyond_a_limit(before, memory, record) -> None:
    largest = 2 * (before / "catalog.sqlite").stat().st_size
    full = 0
    for point in range(POINTS):
        path = shutil.copytree(before, memory / "full")
        end = run(commit_with_files_up_to, path, round(largest ** (point / (POINTS - 1))))
        assert end.code == 0
        full += "no room" in end.messages[-1]
        check_recovered(path, MERGING, MERGING + 1)
        shutil.rmtree(path)
    assert 0 < full < POINTS
    record("T7", "limits on the size of a file survived", f"{POINTS} of {POINTS}, {full} of them full")


def test_a_failed_commit_stays_undone_after_a_power_cut(before, memory) -> None:
    whole = shutil.copytree(before, memory / "whole")
    with Store.open(whole):  # so that the log stays, here and below
        phases = commit_until_full(whole, None)
    for point in [number for number, phase in enumerate(phases) if phase == ("sync", ".sqlite-wal")]:
        path = shutil.copytree(before, memory / f"failed at {point}")
        with Store.open(path):
            commit_until_full(path, point)
            with Store.open(path) as store, store.writer():
                cut_off = shutil.copytree(path, memory / f"cut off after {point}")
        check(cut_off, MERGING, MERGING + 1)


def test_a_disk_that_is_full_while_an_index_is_made_leaves_no_half_made_index(memory) -> None:
    for point in range(20):
        with recorded(Filling(point), memory), pytest.raises(StorageFull):
            Store.create(memory / "index", {})
        with pytest.raises(IndexNotFound):
            Store.open(memory / "index")
    Store.create(memory / "index", {}).close()


def write_as_nobody(say: Say, path: Path) -> None:
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    check(path, MERGING, MERGING)
    with pytest.raises(IndexReadOnly, match="cannot be opened or written"), Store.open(path) as store:
        store.writer().__enter__()


def test_an_index_that_may_only_be_read_is_read(before, memory) -> None:
    for path in (before, *before.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for folder in (memory, *memory.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(0o711)
    assert run(write_as_nobody, before).code == 0


@pytest.mark.parametrize("use", [Store.snapshot, lambda store: store.writer().__enter__()])
def test_an_index_that_vanished_is_named(memory, use) -> None:
    with Corpus(memory / "vanishing").store as store:
        shutil.rmtree(memory / "vanishing")
        with pytest.raises(IndexNotFound, match=r"vanishing.* is gone"):
            use(store)
