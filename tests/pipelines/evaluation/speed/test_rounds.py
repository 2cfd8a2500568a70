"""The engines of a comparison: measured in turns, checked, and no trouble to one another."""

from __future__ import annotations

import json
import os

import pytest
import stub_engines as stubs

from spanwise.pipelines.evaluation.speed.registry import entrant
from spanwise.pipelines.evaluation.speed.rounds import compare
from spanwise.pipelines.evaluation.speed.settings import Settings


def test_engines_take_turns(measure, build):
    _, _, log, _ = measure(build, stubs.Ours, stubs.Stub, rounds=3)
    timed = [line for line in log if "build" in line]
    assert timed == ["spanwise build 3", "stub build 3"] * (1 + 3)  # one to warm up


def test_a_row_lays_the_peer_beside_ours(measure, search):
    [row], out, _, _ = measure(search, stubs.Ours, stubs.Stub, rounds=2)
    assert (out, row.peer_name, len(row.ours.figures), len(row.peer.figures)) == ([], "stub", 2, 2)
    assert (row.ours.recall, row.peer.recall, row.peer.overlap, row.doubt) == (1, 1, 1, "")


def test_a_wrong_engine_is_doubted(measure, search):
    [row], _, _, _ = measure(search, stubs.Ours, stubs.Wrong, rounds=1)
    assert row.peer.recall < 1
    assert "recall" in row.doubt


@pytest.mark.parametrize(
    ("engine", "reason"),
    [(stubs.Raises, "RuntimeError: no room"), (stubs.Dies, "exit code 3: the last words")],
)
def test_a_failing_peer_is_left_out_with_its_reason_and_the_others_stay(measure, build, engine, reason):
    rows, [out], _, _ = measure(build, stubs.Ours, engine, stubs.Stub, rounds=2)
    assert [row.peer_name for row in rows] == ["stub"]
    assert (out.engine, out.reason, out.is_ours) == (engine.name, reason, False)


def test_without_ours_there_is_no_row(measure, build):
    rows, [out], _, _ = measure(build, stubs.OursFails, stubs.Stub, rounds=1)
    assert (rows, out.is_ours) == ([], True)


def test_what_an_engine_prints_spoils_nothing(measure, build):
    [row], out, _, _ = measure(build, stubs.Ours, stubs.Prints, rounds=1)
    assert (row.peer_name, out) == ("prints", [])


def test_processes_are_pinned_to_the_same_processors_and_threads(measure, build):
    *_, seen = measure(build, stubs.Ours, stubs.Stub, rounds=1)
    for process in seen:
        assert set(process["environment"].values()) == {"1", "false"}
        assert {"OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"} <= process["environment"].keys()
        assert process["cpus"] is None or len(process["cpus"]) == 1
    assert seen[0]["cpus"] == seen[1]["cpus"]
    assert seen[0]["pid"] != seen[1]["pid"]


def test_a_process_loads_no_other_engine(measure, build):
    *_, [seen] = measure(build, stubs.Ours, rounds=1)
    assert {"torch", "faiss", "bm25s", "sklearn"}.isdisjoint(seen["modules"])


def test_an_interruption_leaves_no_process(tmp_path, corpus, build):
    def interrupted(stage, done, total):
        if done:
            raise KeyboardInterrupt

    engines = [entrant(stubs.Ours), entrant(stubs.Stub)]
    with pytest.raises(KeyboardInterrupt):
        compare(build, engines, corpus, tmp_path, Settings(), interrupted)
    seen = [json.loads(path.read_text()) for path in tmp_path.glob("*/seen.json")]
    assert len(seen) == 2
    for process in seen:
        with pytest.raises(ProcessLookupError):
            os.kill(process["pid"], 0)
