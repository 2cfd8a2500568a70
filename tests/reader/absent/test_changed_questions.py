"""A changed question asks for what its passage does not say."""

from __future__ import annotations

import random

import pytest

from spanwise.reader.absent.article import Article
from spanwise.reader.absent.changed_questions import (
    CHANGES,
    OPPOSITE,
    negated,
    opposite,
    other_figure,
    other_name,
)
from spanwise.reader.examples import ReaderExample

PASSAGE = "In 1870 the first mill of Varrow was built by Ada Rook, before Ivo Lund came."
ARTICLE = Article([PASSAGE, "In 1884 the brewery of Esk was sold by Ute Falk. It had 7 rooms."])


def example(question: str, passage: str = PASSAGE) -> ReaderExample:
    return ReaderExample("q", question, passage, 0, 2, "Mill")


def changed(kind: str, question: str) -> str | None:
    return CHANGES[kind](example(question), ARTICLE, random.Random(0))


@pytest.mark.parametrize(
    ("kind", "question", "expected"),
    [
        ("figures", "Who built a mill in 1870?", "Who built a mill in 1884?"),
        ("names", "What was built by Ada Rook in 1870?", "What was built by Ute Falk in 1870?"),
        ("names", "What stood in Varrow?", "What stood in Esk?"),
        ("opposites", "Who built the first mill?", "Who built the last mill?"),
        ("negation", "Who was Ada Rook?", "Who wasn't Ada Rook?"),
        ("negation", "Who can build?", "Who can't build?"),
    ],
)
def test_each_kind_changes_one_thing(kind, question, expected):
    assert changed(kind, question) == expected


@pytest.mark.parametrize(
    ("kind", "question"),
    [
        ("figures", "Who built a mill in 1884?"),  # not what the passage speaks of
        ("names", "What did Ute Falk sell?"),
        ("opposites", "Who owned the largest mill?"),
        ("negation", "Who never was there?"),
        ("negation", "Who built the mill?"),
    ],
)
def test_what_the_passage_does_not_hold_is_left_alone(kind, question):
    assert changed(kind, question) is None


def test_a_number_without_another_in_the_article_is_drawn():
    alone = Article([PASSAGE])
    new = other_figure(example("Who built a mill in 1870?"), alone, random.Random(0))
    assert new is not None
    year = new.removeprefix("Who built a mill in ").removesuffix("?")
    assert year.isdigit()
    assert len(year) == 4
    assert year not in PASSAGE


def test_a_passage_with_every_digit_gives_no_number():
    every = "1 2 3 4 5 6 7 8 9"
    assert other_figure(example("Which of 7?", every), Article([every]), random.Random(0)) is None


def test_an_opposite_that_the_passage_holds_too_is_not_taken():
    both = "The first mill and the last mill."
    assert opposite(example("Who built the first mill?", both), Article([both]), random.Random(0)) is None


def test_a_name_of_the_title_replaces_nothing():
    article = Article([PASSAGE, "They met Ute Mill there."])
    assert other_name(example("What did Ada Rook do?"), article, random.Random(0)) is None


def test_opposites_go_both_ways():
    assert (OPPOSITE["first"], OPPOSITE["last"]) == ("last", "first")
    assert all(OPPOSITE[one] in OPPOSITE for one in OPPOSITE)


def test_a_question_is_negated_once():
    assert negated(example("Why is it so that he was there?"), ARTICLE, random.Random(0)) == (
        "Why isn't it so that he was there?"
    )
