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
def test_the_score_decides_between_answer_candidates_and_nothing(library, score, outcome, candidates):
    script = [(words, score - rank, 0.0) for rank, words in enumerate(("Ada Rook", "ten minutes", "1903"))]
    question = "Who opened, built or raised mill, tram, weir and rules?"
    (answer,) = asker(library, *script, calibration=by_margin(0.9)).answer([question])
    assert answer.outcome == outcome
    assert [candidate.text for candidate in answer.candidates] == candidates
    assert (answer.rejected == ()) is (outcome == "answer")
    record = json.loads(json.dumps(answer_record(answer)))
    assert record["outcome"] == outcome
    assert (record["answer"] is None) == (outcome != "answer")
    assert [candidate["text"] for candidate in record["candidates"]] == candidates


def test_candidates_share_no_sentence_and_have_words(library):
    script = ("Ada Rook", 2.0, 0.0), (".\n\n## Rules", 1.9, 0.0), ("-", 1.8, 0.0), ("six", 1.7, 0.0)
    answer = declined(library, *script, calibration=by_margin(0.9), question="Who made the mill?")
    assert [candidate.text for candidate in answer.candidates] == ["Ada Rook", "six"]


@pytest.mark.parametrize("question", ["mill", "What is the mill?", "Show me the mills"])
def test_the_section_of_a_topic_is_a_candidate(library, question):
    answer = declined(library, ("stones", -9.0, 0.0), calibration=by_margin(0.9), question=question)
    [section] = answer.candidates
    assert section.line == 3
    assert section.confidence is None
    assert section.text == "The mill was built in 1811 by Ada Rook."


def test_a_question_about_a_fact_has_no_section_as_a_candidate(library):
    unread = ("stones", -9.0, 0.0)
    answer = declined(library, unread, calibration=by_margin(0.9), question="Who sold the mill?")
    assert answer.candidates == ()


def test_function_words_count_only_in_a_question_of_nothing_else():
    assert content_terms("How much did the mills, the mill?", Analyzer()) == {"mill"}
    assert content_terms("To be or not to be?", Analyzer()) == {"to", "be", "or", "not"}
