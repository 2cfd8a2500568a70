"""Negatives are mined for SQuAD's questions, and for the questions of any form that has positives."""

from __future__ import annotations

import json

import pytest

from spanwise.corpora.ranking_examples import read_ranking_examples
from spanwise.corpora.squad import read_squad
from spanwise.pipelines.evaluation.corpus import is_validation
from spanwise.pipelines.training.leaks import Leaks
from spanwise.pipelines.training.mine import drawn, mine_examples, mine_squad
from spanwise.retrieval.training.mining import Mining
from spanwise.types import RankingExample

HELD_BACK = next(title for i in range(1000) if is_validation(title := f"Title {i}"))
THINGS = {"mill": "Ada Rook", "tram": "Ute Falk", "weir": "Otto Brandt", "pier": "Ida Holm"}
THINGS["lock"] = THINGS["mill"]
MINING = Mining(hard=2, easy=1, depth=5)


def text_of(thing, name, when=1811):
    return f"The old {thing} of the town was built by {name} in {when}, and the {thing} stands there still."


TEXTS = [text_of(thing, name) for thing, name in THINGS.items()]


def squad_file(path, title="Town", when=1811):
    paragraphs = []
    for i, (thing, name) in enumerate(THINGS.items()):
        context = text_of(thing, name, when)
        answer = {"text": name, "answer_start": context.index(name)}
        qas = [{"id": f"{title}{i}", "question": f"Who built the {thing}?", "answers": [answer]}]
        paragraphs.append({"context": context, "qas": qas})
    path.write_text(json.dumps({"version": "1.1", "data": [{"title": title, "paragraphs": paragraphs}]}))
    return path


def mined(folder, part="train"):
    return list(read_ranking_examples(folder / part))


@pytest.fixture
def datasets(tmp_path):
    files = (squad_file(tmp_path / "a.json"), squad_file(tmp_path / "b.json", HELD_BACK, 1920))
    return [read_squad(path) for path in files]


def test_a_negative_holds_no_answer_and_training_stays_among_its_articles(tmp_path, datasets):
    counts = mine_squad(datasets, tmp_path / "out", ["bm25"], MINING)
    assert counts == {"train": 5, "validation": 5}
    for example in mined(tmp_path / "out"):
        thing = example.question.split()[-1].rstrip("?")
        assert example.passages[0] == text_of(thing, THINGS[thing])
        assert len(example.passages) > 1
        assert all(THINGS[thing] not in text and "1920" not in text for text in example.passages[1:])


def test_the_seed_makes_it_the_same(tmp_path, datasets):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        mine_squad(datasets, tmp_path / name, ["bm25", "tfidf"], Mining(1, 1, 5, seed=seed), limit=3)
    files = [(tmp_path / name / "train/lists.jsonl").read_bytes() for name in "abc"]
    assert files[0] == files[1] != files[2]


def test_examples_of_any_form_get_negatives(tmp_path):
    examples = [RankingExample("Who built the mill?", (TEXTS[0], TEXTS[4], "old negative"), 2)]
    counts = mine_examples(examples, TEXTS[1:4], tmp_path, ["bm25"], Mining(3, 0, 5, alike=0.99))
    assert counts == {"train": 1, "validation": 0}
    [example] = mined(tmp_path)
    assert (example.passages[:2], example.n_positive) == ((TEXTS[0], TEXTS[4]), 2)
    assert set(example.passages[2:]) <= set(TEXTS[1:4])


def test_what_repeats_a_further_positive_is_no_negative(tmp_path):
    again = TEXTS[4].replace("still", "even now")
    examples = [RankingExample("Who built the mill?", (TEXTS[0], TEXTS[4]), 2)]
    mine_examples(examples, [again, "The mill was sold."], tmp_path, ["bm25"], Mining(3, 3, 5))
    assert mined(tmp_path)[0].passages[2:] == ("The mill was sold.",)


def test_a_share_of_the_questions_is_held_back(tmp_path):
    questions = [f"Who built the mill number {i}?" for i in range(60)]
    examples = [RankingExample(question, (TEXTS[0],)) for question in questions]
    counts = mine_examples(examples, TEXTS, tmp_path, ["bm25"], MINING, limit=10)
    assert counts == {"train": 10, "validation": sum(map(is_validation, questions))}


def test_leaks_are_neither_asked_nor_negatives(tmp_path, datasets):
    held = {"title": "x", "paragraphs": [{"context": TEXTS[1], "qas": []}]}
    asked = {"id": "1", "question": "who built THE pier?", "answers": [{"text": "a", "answer_start": 0}]}
    held["paragraphs"].append({"context": "a pier", "qas": [asked]})
    (tmp_path / "dev.json").write_text(json.dumps({"data": [held]}))
    leaks = Leaks.of([tmp_path / "dev.json"])
    assert mine_squad(datasets, tmp_path / "out", ["bm25"], MINING, leaks=leaks) == {
        "train": 3,
        "validation": 4,
    }
    assert leaks.dropped == {"by_question": 2, "by_passage": 1}
    assert all(TEXTS[1] not in example.passages for example in mined(tmp_path / "out"))


def test_fewer_are_a_part_of_more():
    assert drawn(range(50), 10, 3) == drawn(range(50), None, 3)[:10]
