"""Folders with questions: all their wordings, answered as `ask` answers them."""

from dataclasses import replace

import pytest
from helpers.scripted_reader import asker, by_margin

from spanwise.corpora.datasets.folder_questions import wording_key
from spanwise.eval.questions import FolderQuestion
from spanwise.pipelines.evaluation.asked_folders import AskedFolder, Wording, wordings_of

QUESTION = FolderQuestion("q", "Who built the mill?", "factoid", ("Ada Rook",), ("mill.md",), True)


def test_a_question_is_asked_in_all_its_wordings():
    plain, everyday = wordings_of([QUESTION], {wording_key(QUESTION.question): ["its builder"]})
    assert plain == Wording(QUESTION, False)
    assert everyday == Wording(replace(QUESTION, id="q-1", question="its builder"), True)
    assert wordings_of([replace(QUESTION, everyday=True)], {})[0].everyday


@pytest.mark.parametrize(("sure", "expected"), [(0.6, "1811"), (0.8, "Ada Rook")])
def test_answers_are_those_of_ask_also_of_a_small_reader_that_is_sure(library, sure, expected):
    answerer = asker(library, ("Ada Rook", 3.0, 1.0))
    small = asker(library, ("1811", 2.0, 1.0))
    pair = replace(by_margin(0.5), sure=sure, hopeless=-1.0)
    asked = AskedFolder("mills", [Wording(QUESTION, False)], replace(answerer, small=small))
    [record] = asked.decided(pair, by_margin(0.5))
    assert record.prediction == expected
    [declined] = asked.decided(pair, by_margin(0.5), threshold=0.99)
    assert declined.prediction == ""
