"""Declined questions: candidates, and sections of a topic."""

from __future__ import annotations

import json

import pytest
from helpers.scripted_reader import asker, by_margin

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.answering.candidates import content_terms
from spanwise.pipelines.json_records import answer_record
from spanwise.types import Answer

QUESTION = "Who sold the zeppelin mlil?"


def declined(library, *script, calibration=None, question=QUESTION) -> Answer:
    (answer,) = asker(library, *script, calibration=calibration, threshold=None).answer([question])
    assert answer.no_answer
    return answer


@pytest.mark.parametrize(
    ("score", "outcome", "candidates"),
    [
        (2.0, "not sure", ["Ada Rook", "ten minutes"]),
        (-2.0, "not sure", ["Ada Rook"]),
        (-2.5, "not found", []),
        (3.0, "answer", []),
    ],
)
def test_one_of_three_outcomes_with_two_candidates_of_ten_percent(library, score, outcome, candidates):
    script = [(words, score - at, 0.0) for at, words in enumerate(("Ada Rook", "ten minutes", "1903"))]
    question = "Who opened, built or raised mill, tram, weir and rules?"
    (answer,) = asker(library, *script, calibration=by_margin(0.9)).answer([question])
    assert answer.outcome == outcome
    assert [one.text for one in answer.candidates] == candidates
    assert (answer.rejected == ()) is (outcome == "answer")
    record = json.loads(json.dumps(answer_record(answer)))
    assert record["outcome"] == outcome
    assert (record["answer"] is None) == (outcome != "answer")
    assert [one["text"] for one in record["candidates"]] == candidates


def test_candidates_share_no_sentence_and_have_words(library):
    script = ("Ada Rook", 2.0, 0.0), (".\n\n## Rules", 1.9, 0.0), ("-", 1.8, 0.0), ("six", 1.7, 0.0)
    found = declined(library, *script, calibration=by_margin(0.9), question="Who made the mill?")
    assert [one.text for one in found.candidates] == ["Ada Rook", "six"]


@pytest.mark.parametrize(
    ("question", "named"),
    [("mill", True), ("What is the mill?", True), ("Show me the mills", True), ("Who sold the mill?", False)],
)
def test_a_topic_shows_the_section_below_its_heading(library, question, named):
    found = declined(library, ("stones", -9.0, 0.0), calibration=by_margin(0.9), question=question).candidates
    assert [(one.line, one.confidence) for one in found] == [(3, None)] * named
    assert [one.text for one in found] == ["The mill was built in 1811 by Ada Rook."] * named


def test_function_words_are_no_content_unless_there_is_nothing_else():
    assert content_terms("How much did the mills, the mill?", Analyzer()) == {"mill"}
    assert content_terms("To be or not to be?", Analyzer()) == {"to", "be", "or", "not"}
