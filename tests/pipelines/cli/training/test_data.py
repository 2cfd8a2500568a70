"""`train negatives`, `train scores` and `train convert`: the data of distillation, from the shell."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made_collections import write_beir_folder
from made_ranking import PLAIN, SCORED
from small_squad import small_squad, written

from spanwise.corpora.collections.ranking_folder import read_ranking_folder, write_ranking_folder
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
    assert [len(one.passages) for one in read_ranking_folder(tmp_path / "mined/train")] == [2, 2]


def test_negatives_are_mined_of_a_collection_by_its_split(run, tmp_path):
    write_beir_folder(tmp_path / "toy")
    mine = ("train", "negatives", "--data", "toy", "--out", "mined", "--retriever", "bm25")
    code, _, err = run(*mine)
    assert (code, "split 'train'" in err, err.count("\n")) == (2, True, 1)
    code, out, err = run(*mine, "--split", "test")
    assert (code, out) == (0, "")
    assert "mined: 2 lists to train on, 0 to validate" in err


def test_squad_and_other_data_are_not_mixed(run, tmp_path):
    write_beir_folder(tmp_path / "toy")
    data = written(tmp_path / "train.json", small_squad("1.1"))
    code, _, err = run("train", "negatives", "--data", data, "--data", "toy", "--out", "mined")
    assert (code, "mixes SQuAD-format" in err) == (2, True)


def test_lists_are_scored_by_the_teacher_named(run, tmp_path, teacher):
    write_ranking_folder(tmp_path / "lists", PLAIN)
    code, out, err = run("train", "scores", "--lists", "lists", "--teacher", "mine", "--out", "s", "--json")
    assert code == 0, err
    assert json.loads(out) == {"out": "s", "lists": 3, "pairs": 8, "dropped": 0, "first": 3}
    assert teacher == ["mine"]
    assert next(read_ranking_folder(tmp_path / "s")).scores == (3.0, 2.0, 1.0)
    assert "100.0%" in run("train", "scores", "--lists", "lists", "--out", "s")[2]


def test_lists_can_be_cut_before_they_are_scored(run, tmp_path, teacher):
    write_ranking_folder(tmp_path / "lists", PLAIN)
    code, out, _ = run(
        "train", "scores", "--lists", "lists", "--out", "s", "--limit", 2, "--passages", 2, "--json"
    )
    assert (code, json.loads(out)["lists"], json.loads(out)["pairs"]) == (0, 2, 4)


def test_false_negatives_are_left_out_when_asked(run, tmp_path, teacher):
    write_ranking_folder(tmp_path / "lists", PLAIN)
    code, _, err = run("train", "scores", "--lists", "lists", "--out", "s", "--drop-within", "1.5")
    assert (code, "2 likely false negatives left out" in err) == (0, True)


@pytest.mark.parametrize(("form", "place"), [("lists", "there"), ("colbert", "there"), ("dpr", "there.json")])
def test_lists_are_converted_to_any_form(run, tmp_path, form, place):
    write_ranking_folder(tmp_path / "lists", SCORED)
    code, out, _ = run("train", "convert", "--data", "lists", "--to", form, "--out", place, "--json")
    assert (code, json.loads(out)["lists"]) == (0, 3)
    assert run("train", "convert", "--data", place, "--out", "back")[0] == 0
    back = [
        (one.question, len(one.passages), one.n_positive) for one in read_ranking_folder(tmp_path / "back")
    ]
    assert back == [(one.question, len(one.passages), one.n_positive) for one in SCORED]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--data", "nowhere", "--out", "x"), 1, "nowhere"),
        (("--data", "empty", "--out", "x"), 1, "Known are: spanwise"),
        (("--data", "lists", "--out", "x", "--to", "xml"), 2, "lists, colbert, dpr"),
        (("--data", "none", "--out", "x"), 1, "holds no question"),
    ],
)
def test_errors_are_one_line(run, tmp_path, arguments, code, says):
    (tmp_path / "empty").mkdir()
    write_ranking_folder(tmp_path / "lists", PLAIN)
    write_ranking_folder(tmp_path / "none", [])
    got, out, err = run("train", "convert", *arguments)
    assert (got, out, err.count("\n")) == (code, "", 1)
    assert says in err
