"""What an evaluation asks, or asks about, is dropped from training and counted."""

from __future__ import annotations

import json

import pytest
from made_collections import write_beir_folder
from small_squad import CONTEXTS, small_squad, written

from spanwise.pipelines.training.leaks import Leaks
from spanwise.types import RankingExample

MILL, TRAM, WEIR = CONTEXTS
LONG = "Who was it that built the great old mill beside the river in the town?"
CLEAN = RankingExample("Who sold the boats?", ("Boats were sold.", "Nets were not."))


@pytest.fixture
def dev(tmp_path):
    value = small_squad("1.1")
    value["data"][0]["paragraphs"][0]["qas"][0]["question"] = LONG
    return written(tmp_path / "dev.json", value)


@pytest.mark.parametrize("question", [LONG, LONG.upper(), f"{LONG} Tell me!", "Who opened the tram?"])
def test_a_question_that_nearly_repeats_one_of_theirs_is_dropped(dev, question):
    leaks = Leaks.of([dev])
    assert list(leaks.without([CLEAN, RankingExample(question, ("a", "b"))])) == [CLEAN]
    assert leaks.dropped == {"by_question": 1, "by_passage": 0}


@pytest.mark.parametrize("passages", [(MILL, "b"), ("a", TRAM), ("a", f" {WEIR.replace(' ', '  ')}\n")])
def test_an_example_with_one_of_their_paragraphs_is_dropped(dev, passages):
    leaks = Leaks.of([dev])
    assert list(leaks.without([RankingExample("q", passages), CLEAN])) == [CLEAN]
    assert leaks.dropped == {"by_question": 0, "by_passage": 1}


def test_a_collection_is_told_by_its_judged_questions_alone(tmp_path):
    write_beir_folder(tmp_path / "toy")
    leaks = Leaks.of([tmp_path / "toy"])
    asked = [RankingExample(q, ("A tram line.",)) for q in ("Who built the mill", "Who sold the mill?")]
    assert [one.question for one in leaks.without(asked)] == ["Who sold the mill?"]


def test_question_sets_and_several_files_are_taken(tmp_path, dev):
    line = {"question": "Who sold the boats?", "answers": [], "documents": [], "answerable": False}
    (tmp_path / "asked.jsonl").write_text(json.dumps(line))
    leaks = Leaks.of([dev, tmp_path / "asked.jsonl"])
    assert list(leaks.without([CLEAN, RankingExample("q", (MILL,))])) == []
