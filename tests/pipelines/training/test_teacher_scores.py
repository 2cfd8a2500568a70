"""`train mine`: lists without false negatives and leaks, the same after an interruption; `train label`."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers.ranking_data import write_lists
from helpers.training_loop import PLAIN

from spanwise.corpora.datasets.folder_questions import wording_key
from spanwise.corpora.datasets.ranking_examples import read_ranking_examples
from spanwise.eval.text import has_answer
from spanwise.pipelines.training import questions, teacher_scores
from spanwise.pipelines.training.questions import is_validation, listed_examples
from spanwise.pipelines.training.reader import train_reader
from spanwise.pipelines.training.teacher_scores import label, mine
from spanwise.reader.labels import LabelStore
from spanwise.reader.training import RECIPES
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
    counts = mine(files, tmp_path / "out", CONFIG)
    assert counts.train == 5
    assert counts.validation == 5
    for part in ("train", "validation"):
        for example in lists(tmp_path / "out", part):
            thing = example.question.split()[-1].rstrip("?")
            assert len(example.passages) > 1
            assert example.passages[0] == text_of(thing, THINGS[thing], 1811 if part == "train" else 1920)
            assert not any(has_answer(text, [THINGS[thing]]) for text in example.passages[1:])
            assert list(example.scores) == [len(text) for text in example.passages]
            assert part == "validation" or not any("1920" in text for text in example.passages)


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
    contents = [(tmp_path / name / "train/lists.jsonl").read_bytes() for name in ("whole", "out", "other")]
    assert contents[0] == contents[1] != contents[2]
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
    counts = mine([tmp_path / "own"], tmp_path / "out", MiningConfig(3, 3, 5))
    assert counts.train == 2
    assert counts.validation == 0
    [example] = [example for example in lists(tmp_path / "out") if "mill" in example.question]
    assert example.passages == (*positives, "The mill was sold by Jon Ash.")
    assert example.n_positive == 2


def test_evaluation_data_is_neither_asked_nor_a_negative(tmp_path, files):
    evaluation = squad_file(tmp_path / "dev.json", "Dev", 1811, {"tram": THINGS["tram"]})
    value = json.loads(evaluation.read_text())
    value["data"][0]["paragraphs"][0]["qas"] = []
    asked = {"id": "1", "question": "who built THE pier?", "answers": [{"text": "a", "answer_start": 0}]}
    value["data"][0]["paragraphs"].append({"context": "a pier", "qas": [asked]})
    evaluation.write_text(json.dumps(value))
    counts = mine(files, tmp_path / "out", CONFIG, exclude=[evaluation])
    assert counts.train == 3
    assert counts.validation == 4
    assert counts.excluded == {"by_question": 2, "by_passage": 1}
    leaked = text_of("tram", THINGS["tram"], 1811)
    assert all(leaked not in example.passages for example in lists(tmp_path / "out"))


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
    assert code == 0
    assert "3 lists to train on, 0 for validation" in err


# Labels of a reader

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
    counts = label(tmp_path / "labels", reader_folder, asked, best=2)
    assert counts.labels == 4
    assert counts.new == 4
    assert counts.tokens > 40
    store = LabelStore.open(tmp_path / "labels")
    for question in ("Who built the mill?", "mill, whose work?"):
        assert store.get(question, "Town. Mill. ", MILL) is not None
    again = label(tmp_path / "labels", reader_folder, asked, best=3)
    assert again.labels == 6
    assert again.new == 2


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


def test_the_verb_labels_the_best_passages_and_says_its_speed(run, asked, reader_folder):
    command = ("train", "label", "--folders", asked, "--reader", reader_folder, "--out", "labels")
    code, out, err = run(*command, "--best", "2", "--json")
    assert code == 0, err
    assert json.loads(out)["labels"] == 4
    assert "4 labels, 4 of them new" in err
    assert "tokens/s" in err


def test_labels_of_another_reader_are_one_line_of_error(run, asked, tmp_path, reader_folder):
    LabelStore.open(tmp_path / "labels", "f" * 64)
    command = ("train", "label", "--folders", asked, "--reader", reader_folder, "--out", "labels")
    code, _, err = run(*command)
    assert code == 1
    assert err.count("\n") == 1
    assert "labels of another reader" in err
