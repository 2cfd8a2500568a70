"""Statements that the passage of their answer supports, and those that say what only the question said."""

from __future__ import annotations

import pytest

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.summarizing.stated import evidence_of, supported
from spanwise.pipelines.support_check import checker

SENTENCE = "Ely Town won the 2014 cup on 13 July."
PASSAGE = f"{SENTENCE} The club was founded after the war."


def said(question, answer="13 July", sentence=SENTENCE, passage=PASSAGE, heading=()):
    found = supported(question, answer, sentence, evidence_of(passage, heading), checker(Analyzer()))
    return found.text if found else None


def test_what_the_passage_says_is_stated():
    assert said("When did Ely Town win the 2014 cup?") == "Ely Town won the 2014 cup on 13 July."
    assert said("When did Ely Town win the cup?") == "Ely Town won the cup on 13 July."


@pytest.mark.parametrize(
    "question",
    [
        "When did Ely Town win the 2010 cup?",
        "When did Norden Town win the 2014 cup?",
        "When did Ely Town lose the 2014 cup?",
        "When did Ely Town win the last cup?",
        "When did Ely Town win the World cup?",
    ],
)
def test_what_the_question_takes_for_granted_is_not_stated(question):
    assert said(question) is None


def test_a_word_that_turns_the_meaning_must_be_there():
    given = ("the war", "The club was founded after the war.")
    assert said("The club was founded after what?", *given) == "The club was founded after the war."
    assert said("The club was founded before what?", *given) is None


def test_the_heading_is_evidence():
    given = ("1811", "It was built in 1811.", "It was built in 1811.")
    assert said("When was the mill built?", *given, heading=("The mill",)) == "The mill was built in 1811."
    assert said("When was the mill built?", *given) is None


def test_a_sentence_that_hedges_is_quoted():
    sentence = "The mill was almost destroyed in 1811."
    assert said("When was the mill destroyed?", "1811", sentence, sentence) is None
