"""The script that says how much of a teacher's gain a student keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from made_results import made_results

from spanwise.eval.question_record import QuestionRecord

ROOT = Path(__file__).parents[2]
FIRST = {"bm25": (1, 0, 0, 0), "colbert": (1, 1, 1, 0), "bm25+rerank": (1, 1, 1, 1)}


@pytest.fixture
def measure(tmp_path):
    """Runs the script on four questions, of which the teacher was asked all."""
    records = (
        QuestionRecord(system, f"q{i}", "?", {"recall@1": float(score)})
        for system, scores in FIRST.items()
        for i, score in enumerate(scores)
    )
    made_results(tmp_path / "results", records)

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ROOT / "scripts" / "measure_distillation.py"]
        return subprocess.run([*command, *arguments], capture_output=True, text=True, cwd=tmp_path)

    return call


SYSTEMS = ("words=results:bm25", "student=results:colbert", "teacher=results:bm25+rerank")


def test_the_student_keeps_its_share_of_the_gain(measure):
    done = measure(*SYSTEMS, "--teacher", "teacher", "--json")
    assert done.returncode == 0, done.stderr
    words, student, teacher = json.loads(done.stdout)
    assert (words["kept"], student["kept"], teacher["kept"]) == (None, pytest.approx(2 / 3), 1.0)
    assert (student["difference"], student["questions"]) == (0.5, 4)


def test_it_prints_a_table(measure):
    table = measure(*SYSTEMS, "--teacher", "teacher").stdout.splitlines()
    assert len(table) == 5
    assert table[3].startswith("| student | 4 | 0.750 | +0.500 ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("words",), "expected NAME=FOLDER:SYSTEM"),
        (("words=results:tfidf",), "holds bm25, colbert, bm25+rerank; expected tfidf"),
        ((*SYSTEMS, "--teacher", "nobody"), "there is no system 'nobody'"),
    ],
)
def test_wrong_arguments_are_named(measure, arguments, message):
    done = measure(*arguments)
    assert (done.returncode, message in done.stderr) == (1, True)
