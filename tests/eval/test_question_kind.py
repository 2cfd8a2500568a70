from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.question_kind import ANSWER_LENGTHS, QUESTION_WORDS, answer_length, question_word


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Who built the mill?", "who"),
        ("To whom was it sold?", "who"),
        ("Whose mill was it?", "who"),
        ("who's there", "who"),
        ("In what year was it built?", "what"),
        ("What's the miller's name?", "what"),
        ("WHEN was it built?", "when"),
        ("Where is it, and when was it built?", "where"),
        ("Of the two mills, which is older?", "which"),
        ("Why is it shut?", "why"),
        ("How do I get there?", "how"),
        ("How old is it?", "how"),
        ("How many floors has it?", "how many"),
        ("How\n much did it cost?", "how many"),
        ("Is it open?", "other"),
        ("Name the miller.", "other"),
        ("", "other"),
    ],
)
def test_the_first_question_word_counts(question: str, word: str) -> None:
    assert question_word(question) == word


@pytest.mark.parametrize("question", ["Somewhat late?", "The Whig show", "whatever", "Howard's mill"])
def test_a_part_of_another_word_is_no_question_word(question: str) -> None:
    assert question_word(question) == "other"


@pytest.mark.parametrize(
    ("words", "group"), [(0, "no answer"), (1, "1 word"), (2, "2 words"), (3, "3-5 words")]
)
def test_answers_are_grouped_by_words(words: int, group: str) -> None:
    assert answer_length([" ".join(["mill"] * words)]) == group


@pytest.mark.parametrize(("words", "group"), [(5, 3), (6, 4), (10, 4), (11, 5), (500, 5)])
def test_groups_end_where_they_say(words: int, group: int) -> None:
    assert answer_length(["mill " * words]) == ANSWER_LENGTHS[group]


def test_the_shortest_gold_counts_and_empty_ones_do_not() -> None:
    assert answer_length(["", " ", "by Ada Rook", "Ada Rook"]) == "2 words"


@given(st.text(), st.lists(st.text(), max_size=3))
def test_every_text_has_a_group(question: str, golds: list[str]) -> None:
    assert question_word(question) in QUESTION_WORDS
    assert answer_length(golds) in ANSWER_LENGTHS
