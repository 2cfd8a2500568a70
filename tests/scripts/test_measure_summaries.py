"""The script that measures summaries, on a data set of two meetings made here."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TURNS = [
    (
        "Ada",
        "Good morning to all of you in this room. {vocalsound} Let us begin the meeting with the minutes.",
    ),
    ("Ute", "The minutes of the last week were sent to everyone on Monday."),
    ("Ada", "The wheel of the mill costs four hundred, said the carpenter from Ulm."),
    ("Ute", "We agreed to buy the wheel of the mill in spring."),
]
QUERY = {
    "query": "What was agreed about the wheel?",
    "answer": "They agreed to buy the wheel of the mill in spring.",
}


def run(data: Path | str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "measure_summaries.py"), *arguments]
    environment = os.environ | {"SPANWISE_DATA": str(data)}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)


def meetings(folder: Path) -> Path:
    turns = [{"speaker": speaker, "content": content} for speaker, content in TURNS]
    line = json.dumps({"meeting_transcripts": turns, "specific_query_list": [QUERY]})
    (folder / "qmsum").mkdir()
    with gzip.open(folder / "qmsum" / "val.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(f"{line}\n{line}\n")
    return folder


def test_the_systems_are_rows_with_lead_3_first(tmp_path):
    done = run(meetings(tmp_path), "--set", "qmsum", "--sentences", "1")
    assert done.stderr == ""
    first, _, _, rule, *rows = done.stdout.splitlines()
    assert first == "qmsum: 2 questions, the best 10 passages of each document"
    names = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert names[0] == "lead-3"
    assert "LexRank for the question + MMR" in names
    assert {row.count("|") for row in rows} == {rule.count("|")}


def test_the_sentence_that_was_asked_for_beats_the_lead(tmp_path):
    done = run(meetings(tmp_path), "--set", "qmsum", "--sentences", "1", "--n", "1")
    rouge_l = {row.split(" | ")[0]: float(row.split(" | ")[3]) for row in done.stdout.splitlines()[4:]}
    assert rouge_l["| LexRank for the question + MMR"] > 80 > rouge_l["| lead-3"]


def test_a_folder_must_be_named():
    done = run("", "--set", "qmsum")
    assert (done.returncode, "SPANWISE_DATA" in done.stderr) == (2, True)
