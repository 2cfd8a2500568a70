"""From a small SQuAD-format file to folders of lists whose negatives hold no answer."""

from __future__ import annotations

import copy

import pytest
from small_squad import CONTEXTS, small_squad, written

from spanwise.corpora.ranking_examples import read_ranking_examples
from spanwise.corpora.squad import read_squad
from spanwise.eval.text import has_answer
from spanwise.pipelines.evaluation.corpus import is_validation
from spanwise.pipelines.training.mine import asked_of, drawn, mine_squad
from spanwise.retrieval.training.mining import Mining

HELD_BACK = next(title for i in range(1000) if is_validation(title := f"Title {i}"))
MINING = Mining(hard=3, easy=1, depth=10)


def dataset(folder):
    """Articles to train on, and one held back whose paragraphs say the same of a quay, by other people."""
    value = small_squad("2.0")
    other = copy.deepcopy(value["data"][0]) | {"title": HELD_BACK}
    for paragraph, (thing, name) in zip(
        other["paragraphs"], [("quay", "Ada Rook"), ("kiln", "Jon Ash"), ("dyke", "Eva Lind")], strict=True
    ):
        paragraph["context"] = f"The {thing} was built in 1811 by {name}."
        answer = {"text": name, "answer_start": paragraph["context"].index(name)}
        paragraph["qas"] = [{"id": thing, "question": f"Who built the {thing}?", "answers": [answer]}]
    return read_squad(written(folder / "squad.json", {"version": "2.0", "data": [*value["data"], other]}))


@pytest.fixture
def data(tmp_path):
    return dataset(tmp_path)


def mined(out, data, part="train", **settings):
    counts = mine_squad([data], out, ["bm25"], settings.pop("mining", MINING), **settings)
    lists = list(read_ranking_examples(out / part))
    assert counts[part] == len(lists)
    return lists


def test_a_list_is_a_question_with_its_paragraph_and_others(tmp_path, data):
    lists = mined(tmp_path / "out", data)
    assert {(one.question, one.passages[0]) for one in lists} == {
        (question, context) for context, (question, _) in CONTEXTS.items()
    }
    assert all(1 <= len(set(one.passages[1:]) - {one.passages[0]}) == len(one.passages) - 1 for one in lists)
    assert all(one.n_positive == 1 and not one.scores for one in lists)


def test_training_sees_no_paragraph_of_the_validation_articles(tmp_path, data):
    for one in mined(tmp_path / "out", data):
        assert set(one.passages) <= set(CONTEXTS)


def test_l18_no_negative_holds_an_answer(tmp_path, data):
    answers = {asked.question: asked.answers for asked in asked_of(data.articles)}
    lists = mined(tmp_path / "out", data, "validation")
    assert len(lists) == 3
    for one in lists:
        assert len(one.passages) > 1
        assert not any(has_answer(passage, answers[one.question]) for passage in one.passages[1:])
    quay = next(one for one in lists if "quay" in one.question)
    assert next(iter(CONTEXTS)) not in quay.passages  # the mill's, which Ada Rook built, too


def test_the_same_seed_mines_the_same(tmp_path, data):
    assert mined(tmp_path / "one", data) == mined(tmp_path / "two", data)


def test_a_limit_takes_the_first_of_all(tmp_path, data):
    everything = mined(tmp_path / "out", data)
    assert mined(tmp_path / "out", data, limit=2) == everything[:2]
    asked = asked_of(data.articles)
    assert drawn(asked, 2, 7) == drawn(asked, None, 7)[:2]
    assert sorted(map(repr, drawn(asked, None, 7))) == sorted(map(repr, asked))


def test_an_index_that_holds_more_is_used(tmp_path, data):
    mined(tmp_path / "out", data)
    smaller = read_squad(written(tmp_path / "small.json", small_squad("1.1")))
    assert len(mined(tmp_path / "out", smaller)) == 3


def test_questions_without_an_answer_are_left_out(data):
    assert not any("sold" in asked.question for asked in asked_of(data.articles))


def test_it_tells_how_far_it_is(tmp_path, data):
    heard = []
    mined(tmp_path / "out", data, report=lambda *told: heard.append(told))
    assert {("train", 3, 3), ("validation", 3, 3)} <= set(heard)
