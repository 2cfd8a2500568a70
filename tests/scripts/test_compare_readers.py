"""The scripts that put other programs' readers beside ours."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
TEXT = "The mill was built in 1811. It was sold by Ada Rook."
QUESTIONS = [
    {
        "id": "q1",
        "question": "Who sold it?",
        "answers": ["Ada Rook"],
        "documents": ["mill.md"],
        "answerable": True,
    },
    {"id": "n1", "question": "Who burnt it?", "answers": [], "documents": [], "answerable": False},
]


def lines(path: Path, records: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return lines(tmp_path / "questions.jsonl", QUESTIONS)


def test_readers_are_judged_alike(tmp_path: Path, questions: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    passages = [{"document": "mill.md", "start": 7, "text": TEXT}]
    lines(out / "asked.jsonl", [{**one, "passages": passages} for one in QUESTIONS])
    right, sold = TEXT.index("Ada"), TEXT.index("sold")
    of_sentence = {"id": "q1", "span": [0, sold, sold + 4], "ms": 3}
    ours = {"id": "q1", "span": [0, right, right + 8], "sentence": [0, right, right + 8], "ms": 1}
    declined = {"id": "n1", "span": None, "ms": 1}
    lines(out / "spanwise.jsonl", [ours, declined])
    lines(out / "haystack.jsonl", [of_sentence, {**declined, "span": [0, 0, 3]}])
    found = run("compare_readers.py", "judge", out, "--questions", questions)
    assert found.returncode == 0, found.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found.stdout.splitlines()[2:4]]
    assert [(row[0], row[1], row[5], row[6]) for row in rows] == [
        ("spanwise", "1", "0", "2 of 2"),
        ("haystack", "1", "1", "1 of 2"),  # "sold" alone is wrong, its sentence is right
    ]
    assert rows[1][7] == "-0.500"


def test_a_question_without_an_answer_is_named(tmp_path: Path, questions: Path) -> None:
    lines(tmp_path / "asked.jsonl", [])
    lines(tmp_path / "spanwise.jsonl", [])
    (tmp_path / "questions.jsonl").rename(tmp_path / "questions.txt")
    failed = run("compare_readers.py", "judge", tmp_path, "--questions", tmp_path / "questions.txt")
    assert (failed.returncode, "question 'q1' has no answer (2 such)" in failed.stderr) == (1, True)


def test_ours_answers_from_the_passages_it_writes(tmp_path: Path, questions: Path) -> None:
    folder, out = tmp_path / "docs", tmp_path / "out"
    folder.mkdir()
    (folder / "mill.md").write_text(TEXT)
    found = run(
        "compare_readers.py", "ask", folder, "--questions", questions, "--out", out, "--retriever", "bm25"
    )
    assert found.returncode == 0, found.stderr
    asked, answered = (
        [json.loads(line) for line in (out / f"{name}.jsonl").read_text().splitlines()]
        for name in ("asked", "spanwise")
    )
    assert [one["id"] for one in asked] == [one["id"] for one in answered] == ["q1", "n1"]
    assert asked[0]["passages"][0]["text"] == TEXT
    number, start, end = answered[0]["span"]
    assert asked[0]["passages"][number]["text"][start:end] == "Ada Rook"
