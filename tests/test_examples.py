"""The programs in examples/ work, each in another process, with the built-in models."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXTS = {
    "mill.md": "# The mill\n\nThe mill was founded by Ada Farrow in May 1841.\n\n# Opening hours\n\n"
    "Visitors are let in from nine until five.\n",
    "tram.txt": "The tram runs every ten minutes.\nIt was opened by Ute Falk in 1903.\n",
}
QUESTIONS = ["Who founded the mill?", "Who opened the tram?", "What colour is the moon's cheese?"]


@pytest.fixture
def folder(tmp_path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in TEXTS.items():
        (notes / name).write_text(text)
    (tmp_path / "questions.txt").write_text("\n".join(QUESTIONS) + "\n")
    return notes


def run(name: str, *arguments: object, cwd: Path) -> str:
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(ROOT)])
    process = subprocess.run(
        [sys.executable, ROOT / "examples" / name, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.reliability
def test_the_batch_job_cites_its_answers_and_resumes(folder, tmp_path):
    out = tmp_path / "answers.jsonl"
    run("batch.py", folder, "questions.txt", out, cwd=tmp_path)
    whole = out.read_text()
    first, second, third = map(json.loads, whole.splitlines())
    assert "Ada Farrow" in first["answer"]
    assert "Ute Falk" in second["answer"]
    place = first["citations"][0]
    assert TEXTS[place["document"]][place["start"] : place["end"]] == first["answer"]
    assert third["answer"] is None
    assert third["citations"] == []
    lines = whole.splitlines(keepends=True)
    out.write_text(lines[0] + lines[1][:20])
    run("batch.py", folder, "questions.txt", out, cwd=tmp_path)
    again = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["question"] for line in again] == QUESTIONS
    assert again[:2] == [first, second]


def test_a_custom_retriever_searches_and_answers(folder, tmp_path):
    out = run("custom_retriever.py", folder, "What are the opening hours of the mill?", cwd=tmp_path)
    first, *_, last = out.splitlines()
    assert first.startswith("1. mill.md, line ")
    assert first.endswith("(by-heading 2.000)")
    assert "nine until five" in last
