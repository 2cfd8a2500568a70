"""The script that measures how well one gold answer judges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from small_squad import written

ROOT = Path(__file__).parents[2]


def run(data: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "measure_annotators.py"), str(data)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def squad(tmp_path: Path, *golds: str) -> Path:
    context = "Ada Rook built the mill."
    answers = [{"text": gold, "answer_start": context.index(gold)} for gold in golds]
    question = {"id": "1", "question": "Who?", "answers": answers}
    paragraph = {"context": context, "qas": [question]}
    value = {"version": "1.1", "data": [{"title": "mill", "paragraphs": [paragraph]}]}
    return Path(written(tmp_path / "data.json", value))


def test_shares_of_one_and_of_the_best(tmp_path):
    done = run(squad(tmp_path, "Ada Rook", "Ada Rook", "Ada Rook"))
    assert done.stdout.splitlines() == [
        "1 questions; F1 of 0.6 with the best: 100.0 %",
        *(f"F1 of {least} with one: 100.0 %" for least in (0.2, 0.3, 0.4, 0.5, 0.6)),
    ]


def test_a_file_of_single_golds_is_refused(tmp_path):
    done = run(squad(tmp_path, "Ada Rook"))
    assert (done.returncode, "three gold answers" in done.stderr) == (2, True)
