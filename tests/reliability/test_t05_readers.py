"""T5: readers beside a writer see one commit whole, each time, and are never in its way."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from children import Child, Say
from made_corpora import Corpus
from workload import check_stamp, commit, stamp, write_stamps

from spanwise.index import Store

READERS, COMMITS = 16, 200
PAUSE_S = 0.01  # between the reads of one reader


def read_until(say: Say, path: Path, stopped: Path) -> None:
    """Read the stamp until the file `stopped` is there; say (generation, seconds) of each read."""
    say("ready")
    reads = []
    while not stopped.exists():
        before = time.perf_counter()
        with Store.open(path) as store, store.snapshot() as snapshot:
            generation = check_stamp(snapshot)
        reads.append((generation, time.perf_counter() - before))
        time.sleep(PAUSE_S)
    say(reads)


class Readers:
    """Processes that read all the time, from entry to exit."""

    def __init__(self, path: Path, stopped: Path) -> None:
        self._stopped = stopped
        self._children = [Child(read_until, path, stopped) for _ in range(READERS)]
        for child in self._children:
            child.hear()

    def stop(self) -> list[list[tuple[int, float]]]:
        """The reads of each reader, after each ended well."""
        self._stopped.touch()
        ends = [child.end() for child in self._children]
        assert [end.code for end in ends] == [0] * READERS
        return [end.said[-1] for end in ends]


def p95_ms(reads: list[list[tuple[int, float]]]) -> float:
    return float(np.percentile([seconds for one in reads for _, seconds in one], 95)) * 1000


@pytest.mark.reliability
def test_readers_see_whole_generations_while_a_writer_commits(memory, record, nightly) -> None:
    path = memory / "index"
    with Corpus(path).store as store:
        commit(store, stamp(1))
    idle = Readers(path, memory / "idle")
    time.sleep(2)
    quiet = idle.stop()

    busy = Readers(path, memory / "busy")
    writer = Child(write_stamps, path, 10**9 if nightly else COMMITS + 1)
    acknowledged = []
    deadline = time.monotonic() + 600
    while nightly and time.monotonic() < deadline:
        acknowledged.append(writer.hear())
    if nightly:
        writer.kill()
    acknowledged += writer.end(timeout_s=300).said
    reads = busy.stop()
    for one in reads:
        seen = [generation for generation, _ in one]
        assert seen == sorted(seen)
    assert len({generation for one in reads for generation, _ in one}) > COMMITS // 10
    n_reads = sum(len(one) for one in reads)
    value = f"0 in {n_reads} reads, {len(acknowledged)} commits"
    record("T5", f"mixed generations seen by {READERS} processes", value)
    value = f"{p95_ms(quiet):.0f} ms alone, {p95_ms(reads):.0f} ms"
    record("T5", "95 % of reads beside a writer take at most", value)
