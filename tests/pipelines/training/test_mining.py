"""`train mine`: lists without false negatives, without leaks, the same after an interruption."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made_collections import write_lists
from made_training import PLAIN

from spanwise.corpora.datasets.ranking_examples import read_ranking_examples
from spanwise.eval.text import has_answer
from spanwise.pipelines.training import teacher_scores
from spanwise.pipelines.training.questions import is_validation
from spanwise.pipelines.training.teacher_scores import mine
from spanwise.retrieval.training.mining import MiningConfig
from spanwise.types import RankingExample

HELD_BACK = next(title for i in range(1000) if is_validation(title := f"Title {i}"))
THINGS = {"mill": "Ada Rook", "tram": "Ute Falk", "weir": "Otto Brandt", "pier": "Ida Holm"}
THINGS["lock"] = THINGS["mill"]
CONFIG = MiningConfig(hard=2, easy=1, depth=5)


class Teacher:
    """Scores passages by their length."""

    digest = "teacher"

    def score(self, questions, passages):
        return [np.array([len(text) for text in texts], np.float32) for texts in passages]


@pytest.fixture(autouse=True)
def teacher(monkeypatch):
    monkeypatch.setattr(teacher_scores, "load_cross_encoder", lambda name: Teacher())


def text_of(thing, name, when):
    return f"The old {thing} of the town was built by {name} in {when}, and the {thing} stands there still."


def squad_file(path, title="Town", when=1811, things=THINGS):
    paragraphs = []
    for i, (thing, name) in enumerate(things.items()):
        context = text_of(thing, name, when)
        answer = {"text": name, "answer_start": context.index(name)}
        qas = [{"id": f"{title}{i}", "question": f"Who built the {thing}?", "answers": [answer]}]
        paragraphs.append({"context": context, "qas": qas})
    path.write_text(json.dumps({"version": "1.1", "data": [{"title": title, "paragraphs": paragraphs}]}))
    return path


@pytest.fixture
def files(tmp_path):
    return [squad_file(tmp_path / "a.json"), squad_file(tmp_path / "b.json", HELD_BACK, 1920)]


def lists(folder, part="train"):
    return list(read_ranking_examples(folder / part))


def test_negatives_hold_no_answer_and_training_stays_among_its_articles(tmp_path, files):
    mined = mine(files, tmp_path / "out", CONFIG)
    assert (mined.train, mined.validation) == (5, 5)
    for part in ("train", "validation"):
        for one in lists(tmp_path / "out", part):
            thing = one.question.split()[-1].rstrip("?")
            assert len(one.passages) > 1
            assert one.passages[0] == text_of(thing, THINGS[thing], 1811 if part == "train" else 1920)
            assert not any(has_answer(text, [THINGS[thing]]) for text in one.passages[1:])
            assert list(one.scores) == [len(text) for text in one.passages]
            assert part == "validation" or not any("1920" in text for text in one.passages)


def test_an_interrupted_run_resumes_and_the_seed_makes_it_the_same(tmp_path, files, monkeypatch):
    monkeypatch.setattr(teacher_scores, "QUESTIONS_AT_ONCE", 2)
    mine(files, tmp_path / "whole", CONFIG)

    def stop(task, done, total):
        if (task, done) == ("train", 4):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mine(files, tmp_path / "out", CONFIG, on_progress=stop)
    with (tmp_path / "out/train/lists.jsonl.part").open("a") as file:
        file.write('{"torn')
    mine(files, tmp_path / "out", CONFIG)
    mine(files, tmp_path / "other", MiningConfig(2, 1, 5, seed=1))
    found = [(tmp_path / name / "train/lists.jsonl").read_bytes() for name in ("whole", "out", "other")]
    assert found[0] == found[1] != found[2]
    with pytest.raises(ValueError, match="lists of other data or settings"):
        mine(files, tmp_path / "out", CONFIG, limit=1)


def test_own_lists_get_negatives_that_repeat_no_positive_passage(tmp_path):
    positives = [text_of(thing, "Ada Rook", 1811) for thing in ("mill", "lock")]
    again = positives[1].replace("still", "even now")
    write_lists(
        tmp_path / "own",
        [
            RankingExample("Who built the mill?", tuple(positives), 2),
            RankingExample("Who sold it?", (again, "The mill was sold by Jon Ash.")),
        ],
    )
    mined = mine([tmp_path / "own"], tmp_path / "out", MiningConfig(3, 3, 5))
    assert (mined.train, mined.validation) == (2, 0)
    [one] = [one for one in lists(tmp_path / "out") if "mill" in one.question]
    assert one.passages == (*positives, "The mill was sold by Jon Ash.")
    assert one.n_positive == 2


def test_evaluation_data_is_neither_asked_nor_a_negative(tmp_path, files):
    held = squad_file(tmp_path / "dev.json", "Dev", 1811, {"tram": THINGS["tram"]})
    value = json.loads(held.read_text())
    value["data"][0]["paragraphs"][0]["qas"] = []
    asked = {"id": "1", "question": "who built THE pier?", "answers": [{"text": "a", "answer_start": 0}]}
    value["data"][0]["paragraphs"].append({"context": "a pier", "qas": [asked]})
    held.write_text(json.dumps(value))
    mined = mine(files, tmp_path / "out", CONFIG, exclude=[held])
    assert (mined.train, mined.validation) == (3, 4)
    assert mined.excluded == {"by_question": 2, "by_passage": 1}
    leaked = text_of("tram", THINGS["tram"], 1811)
    assert all(leaked not in one.passages for one in lists(tmp_path / "out"))


def test_the_verb_prints_what_was_mined(run, tmp_path, files):
    code, out, err = run("train", "mine", "--data", files[0], "--data", files[1], "--out", "m", "--json")
    assert code == 0, err
    assert json.loads(out) == {
        "out": "m",
        "train": 5,
        "validation": 5,
        "excluded": {"by_question": 0, "by_passage": 0},
        "first": 0.2,
    }
    write_lists(tmp_path / "own", PLAIN)
    code, _, err = run("train", "mine", "--data", "own", "--out", "n", "--teacher", "none")
    assert (code, "3 lists to train on, 0 for validation" in err) == (0, True)
