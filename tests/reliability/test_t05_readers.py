"""T5: readers beside a writer see one commit whole, each time, and do not block it."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from crashes import Child, Say
from made_corpora import Corpus
from workload import check_stamp, commit, stamp, write_stamps

from spanwise.index import Store

PAUSE_S = 0.01  # between the reads of one reader


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
    path, stopped, n_readers = memory / "index", memory / "stopped", 2 if times == 5 else 16
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
    for one in reads:
        seen = [generation for generation, _ in one]
        assert seen == sorted(seen)
    assert len({generation for one in reads for generation, _ in one}) > times // 10
    record("T5", f"mixed generations seen by {n_readers} processes", f"0 in {sum(map(len, reads))} reads")
    p95 = np.percentile([seconds for one in reads for _, seconds in one], 95)
    record("T5", "95 % of reads beside a writer take at most", f"{p95 * 1000:.0f} ms")
