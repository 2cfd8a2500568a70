"""The script that looks into the results of an open-domain evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from made_results import made_results
from small_squad import small_squad, written

from spanwise.eval.question_record import QuestionRecord

ROOT = Path(__file__).parents[2]


@pytest.fixture
def gap(tmp_path):
    """Runs `gap` on results where dense found q0 alone, bm25 found q1 alone, and both found q2."""
    found = {"dense": (1.0, 0.0, 1.0), "bm25": (0.0, 1.0, 1.0)}
    records = (
        QuestionRecord(system, f"q{i}", "?", {"recall@20": score})
        for system, scores in found.items()
        for i, score in enumerate(scores)
    )
    made_results(tmp_path / "results", records)
    data = written(tmp_path / "data.json", small_squad("1.1"))

    def call(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ROOT / "scripts" / "measure_open.py", "gap", tmp_path / "results"]
        return subprocess.run([*command, "--data", data, *more], capture_output=True, text=True, cwd=ROOT)

    return call


def test_the_gap_is_counted_and_quoted(gap):
    done = gap()
    assert done.returncode == 0, done.stderr
    assert "| only dense | 1 | 100 % |" in done.stdout
    assert "- Who built the mill? **Ada Rook**: “The mill was built in 1811 by Ada Rook.”" in done.stdout


def test_json_holds_the_same(gap):
    found = json.loads(gap("--json").stdout)["gaps"][0]
    assert (found["both"]["questions"], found["only_first"]["questions"]) == (1, 1)


def test_a_system_without_records_is_named(gap):
    done = gap("--systems", "dense", "tfidf")
    assert done.returncode == 1
    assert "no records of 'tfidf'" in done.stderr
