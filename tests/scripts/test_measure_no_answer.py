"""The script that measures a threshold on questions that did not choose it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from small_squad import small_squad, written

ROOT = Path(__file__).parents[2]


def run(results, data):
    command = [sys.executable, ROOT / "scripts" / "measure_no_answer.py", results, "--data", data]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)


def two_articles():
    """Two articles with the same questions under other ids."""
    value = small_squad("2.0")
    again = json.loads(json.dumps(value["data"][0]))
    for question in (q for paragraph in again["paragraphs"] for q in paragraph["qas"]):
        question["id"] = question["id"].upper()
    again["title"] = "Village"
    return {**value, "data": [value["data"][0], again]}


def test_each_half_is_scored_at_the_threshold_of_the_other(tmp_path):
    value = two_articles()
    ids = [q["id"] for a in value["data"] for p in a["paragraphs"] for q in p["qas"]]
    answers = {
        q["id"]: q["answers"][0]["text"]
        for a in value["data"]
        for p in a["paragraphs"]
        for q in p["qas"]
        if q["answers"]
    }
    written(tmp_path / "spans.json", {qid: answers.get(qid, "mill") for qid in ids})
    # in the one half no-answer is sure from 0.5 on, in the other from 0.2 on
    sure = {"q": 0.3, "n": 0.5, "Q": 0.1, "N": 0.2}
    written(tmp_path / "na_prob.json", {qid: sure[qid[0]] for qid in ids})
    done = run(tmp_path, written(tmp_path / "data.json", value))
    names = ("best F1", "balanced")
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        assert line.startswith(f"{name}: thresholds 0.1 0.3; "), done.stderr
        assert "HasAns_f1 50.0" in line  # the first half is declined throughout at 0.1
        assert "NoAns_f1 50.0" in line  # the second is answered throughout at 0.3
        assert "total 12.0" in line


def test_one_article_has_no_other_half(tmp_path):
    for name in ("spans.json", "na_prob.json"):
        written(tmp_path / name, {})
    done = run(tmp_path, written(tmp_path / "data.json", small_squad("2.0")))
    assert done.returncode == 1
    assert "two articles" in done.stderr
