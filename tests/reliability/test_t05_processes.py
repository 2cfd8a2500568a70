"""T5: readers see one commit whole while another process writes. T6: there is one writer at a time."""

import time
from pathlib import Path

import numpy as np
import pytest
from crashes import Child, Say
from helpers.corpora import Corpus, stage
from workload import check_stamp, commit, stamp, write_stamps

from spanwise.errors import IndexLocked
from spanwise.index.store import Store

PAUSE_S = 0.01  # between the reads of one reader
WRITERS = 4
COMMITS_EACH = 25


def read_until(say: Say, path: Path, stopped: Path) -> None:
    """Read the stamp until the file `stopped` is there; send (generation, seconds) of each read."""
    say("ready")
    reads = []
    while not stopped.exists():
        before = time.perf_counter()
        with Store.open(path) as store, store.snapshot() as snapshot:
            generation = check_stamp(snapshot)
        reads.append((generation, time.perf_counter() - before))
        time.sleep(PAUSE_S)
    say(reads)


@pytest.mark.times(5, 200, 20_000)
def test_readers_see_whole_generations_while_a_writer_commits(memory, record, times) -> None:
    path = memory / "index"
    stopped = memory / "stopped"
    n_readers = 2 if times == 5 else 16
    with Corpus(path).store as store:
        commit(store, stamp(1))
    readers = [Child(read_until, path, stopped) for _ in range(n_readers)]
    for reader in readers:
        reader.receive()
    written = Child(write_stamps, path, times + 1).end(timeout_s=600)
    stopped.touch()
    ends = [reader.end() for reader in readers]
    assert written.messages[-1] == times + 1
    assert [end.code for end in (written, *ends)] == [0] * (n_readers + 1)
    reads = [end.messages[-1] for end in ends]
    for read in reads:
        seen = [generation for generation, _ in read]
        assert seen == sorted(seen)
    assert len({generation for read in reads for generation, _ in read}) > times // 10
    record("T5", f"mixed generations seen by {n_readers} processes", f"0 in {sum(map(len, reads))} reads")
    p95 = np.percentile([seconds for read in reads for _, seconds in read], 95)
    record("T5", "95 % of reads beside a writer take at most", f"{p95 * 1000:.0f} ms")


def hold_the_lock(say: Say, path: Path) -> None:
    with Store.open(path) as store, store.writer():
        say("held")
        time.sleep(60)


@pytest.mark.smoke
@pytest.mark.promise("T6")
def test_a_second_process_is_refused_at_once_and_enters_when_the_first_is_killed(memory, record) -> None:
    with Corpus(memory / "index").store as store:
        holder = Child(hold_the_lock, store.path)
        holder.receive()
        before = time.perf_counter()
        with pytest.raises(IndexLocked, match=r"written by process \d+"):
            commit(store, stamp(1))
        refused_s = time.perf_counter() - before
        holder.kill()
        holder.end()
        assert commit(store, stamp(1)) == 1
    record("T6", "a second writer is refused after", f"{refused_s * 1000:.0f} ms")


def fight(say: Say, path: Path, until_s: float) -> None:
    """Commit the next stamp again and again, waiting for the others."""
    commits = 0
    deadline = time.monotonic() + until_s
    with Store.open(path) as store:
        while commits < COMMITS_EACH or time.monotonic() < deadline:
            with store.writer(timeout_s=120) as writer:
                with store.snapshot() as snapshot:
                    change = stamp(check_stamp(snapshot) + 1)
                stage(writer, change.put, vectors=True)
                writer.commit()
            commits += 1
    say(commits)


@pytest.mark.promise("T6")
def test_writers_that_wait_for_one_another_lose_nothing(memory, record, nightly) -> None:
    with Corpus(memory / "index").store as store:
        children = [Child(fight, store.path, 3600 if nightly else 0) for _ in range(WRITERS)]
        ends = [child.end(timeout_s=4000) for child in children]
        assert [end.code for end in ends] == [0] * WRITERS
        commits = sum(end.messages[-1] for end in ends)
        with store.snapshot() as snapshot:
            assert check_stamp(snapshot) == commits
        assert store.verify() == []
    record("T6", f"commits of {WRITERS} processes that compete for the lock, all there", f"{commits}")


@pytest.mark.promise("T6")
def test_the_log_is_used_again_when_a_sleeping_reader_ends(memory, record) -> None:
    log = memory / "index" / "catalog.sqlite-wal"
    with Corpus(memory / "index").store as store:
        with store.snapshot() as asleep:
            for generation in range(1, 201):
                commit(store, stamp(generation))
            assert check_stamp(asleep) == 0
        commit(store, stamp(201))  # copies the log into the catalog; the next commit writes from its start
        grown = log.stat().st_size
        for generation in range(202, 252):
            commit(store, stamp(generation))
        assert log.stat().st_size == grown
    assert not log.exists()
    record("T6", "SQLite's log after 200 commits beside a sleeping reader", f"{grown / 2**20:.1f} MB")
