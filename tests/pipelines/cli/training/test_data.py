"""`train negatives` and `train scores`: the data of distillation, from the shell."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made_ranking import PLAIN
from small_squad import small_squad, written

from spanwise.corpora.ranking_examples import read_ranking_examples, write_ranking_examples
from spanwise.models import cross_encoder


class Teacher:
    digest = "teacher"

    def score(self, questions, passages):
        return [np.arange(len(texts), 0, -1, dtype=np.float32) for texts in passages]


@pytest.fixture
def teacher(monkeypatch):
    asked = []
    monkeypatch.setattr(
        cross_encoder, "load_cross_encoder", lambda name: (asked.append(name), Teacher())[1], raising=False
    )
    return asked


def test_negatives_are_mined_of_squad_without_what_is_evaluated(run, tmp_path):
    data = written(tmp_path / "train.json", small_squad("1.1"))
    dev = small_squad("1.1")
    dev["data"][0]["paragraphs"] = dev["data"][0]["paragraphs"][:1]
    code, out, err = run(
        *("train", "negatives", "--data", data, "--out", "mined", "--retriever", "bm25", "--json"),
        *("--without", written(tmp_path / "dev.json", dev)),
    )
    assert code == 0, err
    assert json.loads(out) == {
        "out": "mined",
        "train": 2,
        "validation": 0,
        "left_out": {"by_question": 1, "by_passage": 0},
    }
    assert [len(one.passages) for one in read_ranking_examples(tmp_path / "mined/train")] == [2, 2]


def test_squad_and_other_data_are_not_mixed(run, tmp_path):
    write_ranking_examples(tmp_path / "toy", PLAIN)
    data = written(tmp_path / "train.json", small_squad("1.1"))
    code, _, err = run("train", "negatives", "--data", data, "--data", "toy", "--out", "mined")
    assert (code, "mixes SQuAD-format" in err) == (2, True)


def test_lists_are_scored_by_the_teacher_named(run, tmp_path, teacher):
    write_ranking_examples(tmp_path / "lists", PLAIN)
    code, out, err = run("train", "scores", "--lists", "lists", "--teacher", "mine", "--out", "s", "--json")
    assert code == 0, err
    assert json.loads(out) == {"out": "s", "lists": 3, "pairs": 8, "dropped": 0, "first": 3}
    assert teacher == ["mine"]
    assert next(read_ranking_examples(tmp_path / "s")).scores == (3.0, 2.0, 1.0)
    assert "100.0%" in run("train", "scores", "--lists", "lists", "--out", "s")[2]


def test_lists_can_be_cut_before_they_are_scored(run, tmp_path, teacher):
    write_ranking_examples(tmp_path / "lists", PLAIN)
    code, out, _ = run(
        "train", "scores", "--lists", "lists", "--out", "s", "--limit", 2, "--passages", 2, "--json"
    )
    assert (code, json.loads(out)["lists"], json.loads(out)["pairs"]) == (0, 2, 4)


def test_false_negatives_are_left_out_when_asked(run, tmp_path, teacher):
    write_ranking_examples(tmp_path / "lists", PLAIN)
    code, _, err = run("train", "scores", "--lists", "lists", "--out", "s", "--drop-within", "1.5")
    assert (code, "2 likely false negatives left out" in err) == (0, True)
