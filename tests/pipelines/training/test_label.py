"""`train label`: the pairs that are labelled, of folders and of lists."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from made_collections import write_lists
from made_training import MILL as MILL_PASSAGE
from made_training import PLAIN, TRAM

from spanwise.corpora.datasets.folder_questions import wording_key
from spanwise.pipelines.training import questions
from spanwise.pipelines.training.questions import listed_examples
from spanwise.pipelines.training.reader import train_reader
from spanwise.pipelines.training.teacher_scores import label
from spanwise.reader.labels import LabelStore
from spanwise.reader.training import RECIPES

MILL = "The mill was built by Ada Rook in 1811."
FILES = {"mill.md": MILL, "again.md": "Ada Rook built a mill.", "tram.md": "The tram was built by Ute Falk."}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A folder with one question in two wordings."""
    (tmp_path / "own" / "town").mkdir(parents=True)
    for name, text in FILES.items():
        (tmp_path / "own" / "town" / name).write_text(text)
    question = {"id": "q", "question": "Who built the mill?", "type": "factoid", "document": "mill.md"}
    question |= {"heading": "Town > Mill", "passage": MILL, "answer": "Ada Rook"}
    line = json.dumps(question | {"answer_start": MILL.index("Ada")})
    (tmp_path / "own" / "town.jsonl").write_text(line)
    everyday = {"of": wording_key("Who built the mill?"), "wording": "mill, whose work?"}
    (tmp_path / "wordings").write_text(json.dumps(everyday))
    monkeypatch.setattr(questions, "WORDINGS", tmp_path / "wordings")
    return tmp_path / "own"


def test_every_wording_is_labelled_with_its_own_passage_and_the_best_found(asked, tmp_path, reader_folder):
    made = label(tmp_path / "labels", reader_folder, asked, best=2)
    assert (made.labels, made.new, made.tokens > 40) == (4, 4, True)
    store = LabelStore.open(tmp_path / "labels")
    for question in ("Who built the mill?", "mill, whose work?"):
        assert store.get(question, "Town. Mill. ", MILL) is not None
    again = label(tmp_path / "labels", reader_folder, asked, best=3)
    assert (again.labels, again.new) == (6, 2)


def test_a_reader_learns_from_the_labels_of_passages_that_are_mined_once(asked, tmp_path, reader_folder):
    label(tmp_path / "labels", reader_folder, asked, best=3, mined=tmp_path / "mined")
    store = LabelStore.open(tmp_path / "labels")
    [example] = listed_examples(asked, tmp_path / "mined", 0, 7, store)
    assert [text for _, text in example.negatives] == [FILES["tram.md"]]  # the only one without the answer
    recipe = replace(RECIPES["lists"], tokens=1, max_length=64)
    arguments = {"start": reader_folder, "folders": asked, "mined": tmp_path / "mined"}
    train_reader([], tmp_path / "plain", recipe, **arguments)
    train_reader([], tmp_path / "taught", recipe, labels=tmp_path / "labels", **arguments)
    assert not list(tmp_path.glob("*/run/index-*"))
    assert (tmp_path / "taught/model.safetensors").is_file()


def test_the_verb_labels_lists_of_mine_and_says_its_speed(run, tmp_path, reader_folder):
    write_lists(tmp_path / "lists/train", PLAIN[:1])
    write_lists(tmp_path / "lists/validation", PLAIN[1:])
    given = ("train", "label", "--lists", "lists", "--reader", reader_folder, "--out", "labels")
    code, out, err = run(*given, "--best", "2", "--json")
    assert (code, json.loads(out)["labels"]) == (0, 6), err
    assert "6 labels, 6 of them new" in err
    assert "tokens/s" in err
    store = LabelStore.open(tmp_path / "labels")
    assert all(store.get("who built the mill", "", text) for text in (MILL_PASSAGE, TRAM))


def test_folders_or_lists_are_needed(run, tmp_path):
    code, _, err = run("train", "label", "--reader", "builtin", "--out", "labels")
    assert (code, "--folders DIR or --lists FOLDER" in err) == (2, True)
    with pytest.raises(ValueError, match="either folders with questions or lists"):
        label(tmp_path, "builtin", tmp_path, tmp_path)


def test_labels_of_another_reader_are_one_line_of_error(run, tmp_path, reader_folder):
    LabelStore.open(tmp_path / "labels", "f" * 64)
    write_lists(tmp_path / "lists/train", PLAIN)
    write_lists(tmp_path / "lists/validation", PLAIN)
    given = ("train", "label", "--lists", "lists", "--reader", reader_folder, "--out", "labels")
    code, _, err = run(*given)
    assert (code, err.count("\n"), "labels of another reader" in err) == (1, 1, True)
