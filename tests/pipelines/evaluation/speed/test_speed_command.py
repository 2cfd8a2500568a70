"""`eval speed` as a user meets it, with stub engines in real processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import stub_engines as stubs

from spanwise.pipelines.evaluation.speed import comparisons, registry
from spanwise.pipelines.evaluation.speed.data import Paragraphs
from spanwise.pipelines.evaluation.speed.registry import entrant
from spanwise.pipelines.evaluation.speed.report import evaluate_speed
from spanwise.pipelines.evaluation.speed.settings import Settings

KEYS = ["name", "ours", "peer", "peer_name", "unit", "ratio"]


@pytest.fixture
def engines(monkeypatch, build, search):
    """Puts stub engines and their comparisons in the place of the real ones."""
    monkeypatch.setattr(comparisons, "COMPARISONS", (build, search))
    monkeypatch.delenv("SPANWISE_DATA", raising=False)

    def enter(*given):
        monkeypatch.setattr(registry, "all_entrants", lambda: tuple(map(entrant, given)))

    return enter


def test_it_prints_the_rows(run, engines):
    engines(stubs.Ours, stubs.Stub)
    code, out, err = run("eval", "speed", "--passages", 4, "--rounds", 1, "--only", "stub-search", "--json")
    [record] = json.loads(out)
    assert (code, list(record), record["name"], record["peer_name"]) == (0, KEYS, "stub-search", "stub")
    assert "of the bundled sample" in err


def test_a_table_names_the_comparison_and_the_peer(run, engines):
    engines(stubs.Ours, stubs.Stub)
    code, out, _ = run("eval", "speed", "--passages", 4, "--rounds", 1, "--only", "stub-build")
    assert code == 0
    assert "stub-build, passages/s: made for tests" in out
    assert "  stub  " in out


def test_the_file_of_results_says_what_it_depends_on(run, engines, tmp_path):
    engines(stubs.Ours, stubs.Stub, stubs.Absent)
    run("eval", "speed", "--passages", 4, "--rounds", 2, "--only", "stub-build", "--out", "speed.json")
    record = json.loads((tmp_path / "speed.json").read_text())
    assert record["settings"]["rounds"] == 2
    assert record["machine"].keys() >= {"cpu", "cores", "python", "load"}
    assert record["comparisons"]["stub-build"]["passages"] >= 4
    [row] = record["rows"]
    assert list(row)[:6] == KEYS
    assert row["peer_measured"].keys() == {"median", "min", "max", "overlap", "recall"}
    assert [one["engine"] for one in record["left_out"]] == ["absent"]


def test_what_was_measured_before_an_interruption_is_kept(tmp_path, build, search):
    def interrupted(stage, done, total):
        if stage == "stub-search":
            raise KeyboardInterrupt

    out, entrants = tmp_path / "speed.json", [entrant(stubs.Ours), entrant(stubs.Stub)]
    paragraphs = Paragraphs("made", (("The mill was built.", ("What was built?",)),))
    with pytest.raises(KeyboardInterrupt):
        evaluate_speed([build, search], entrants, paragraphs, Settings(rounds=1), out, interrupted)
    assert [row["name"] for row in json.loads(out.read_text())["rows"]] == ["stub-build"]


def test_a_peer_that_is_not_installed_is_left_out_with_advice(run, engines):
    engines(stubs.Ours, stubs.Absent, stubs.Stub)
    code, out, err = run("eval", "speed", "--passages", 4, "--rounds", 1, "--only", "stub-build", "--json")
    assert (code, [record["peer_name"] for record in json.loads(out)]) == (0, ["stub"])
    assert "absent is left out: no-such-distribution is not installed: pip install 'spanwise[bench]'" in err


def test_a_wrong_peer_is_said_to_be(run, engines):
    engines(stubs.Ours, stubs.Wrong)
    _, _, err = run("eval", "speed", "--passages", 9, "--rounds", 1, "--only", "stub-search", "--json")
    assert "wrong may not do the same work" in err


def test_when_ours_fails_the_command_does_too(run, engines):
    engines(stubs.OursFails, stubs.Stub)
    code, out, err = run("eval", "speed", "--passages", 4, "--rounds", 1, "--only", "stub-build", "--json")
    assert (code, json.loads(out)) == (1, [])
    assert "spanwise is left out: RuntimeError: no room" in err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--only", "bm42"), "expected one of: bm25-index"),
        (("--threads", 10_000), "threads is 10000"),
        (("--out", "missing/speed.json"), "there is no folder"),
        (("--rounds", 0), "rounds"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_measured(run, arguments, expected):
    code, out, err = run("eval", "speed", *arguments)
    assert (code, out) == (2, "")
    assert expected in err


def test_help_loads_no_engine():
    program = (
        "import sys; sys.argv = ['spanwise', 'eval', 'speed', '--help']\n"
        "from spanwise.pipelines.cli import main\n"
        "try: main()\n"
        "finally: print([m for m in ('torch', 'faiss', 'bm25s', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
    assert "Example: spanwise eval speed" in done.stdout
