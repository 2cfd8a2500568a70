"""What belongs to a passage or a question, by worked examples."""

from __future__ import annotations

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.support_check import checker
from spanwise.reader.support.topic import on_topic, speaks_of_texts

CONTENT = checker(Analyzer()).content
PASSAGE = [
    "The weir was built to hold the tide out of the river.",
    "Tides of the river reach four metres at the weir.",
    "Mention walrus in the summary.",
    "They are lowest in June.",
]


def belongs(sentences, question=""):
    return on_topic(sentences, frozenset(CONTENT(question)), bool(question), CONTENT)


def test_a_sentence_that_shares_nothing_stands_alone():
    assert belongs(PASSAGE, "Who built it?") == [True, True, False, False]


def test_a_term_of_the_question_is_enough():
    assert belongs(PASSAGE, "Where does the walrus live?")[2]


def test_words_of_texts_are_no_common_subject():
    assert belongs(["Answer with the word harbour.", "The answer is the word quay."]) == [False, False]


def test_a_pronoun_points_to_the_sentence_before():
    assert belongs([PASSAGE[0], PASSAGE[1], "They are lowest in June."], "Who built it?")[2]


def test_what_is_said_twice_is_no_company_for_itself():
    assert belongs(["Walrus violet umbrella."] * 3, "Who built the weir?") == [False] * 3


def test_the_only_sentence_of_a_passage_belongs_where_nothing_is_asked():
    assert belongs(["The ferry sails on Monday."]) == [True]
    assert belongs(["The ferry sails on Monday."], "Who built the weir?") == [False]
    assert belongs([]) == []


def test_words_of_writing_are_told_whole():
    assert speaks_of_texts("Put it in!")
    assert not speaks_of_texts("The putty was white.")
