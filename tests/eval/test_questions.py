"""Verdicts on answers."""

from __future__ import annotations

import pytest

from spanwise.eval.questions import FolderQuestion, Verdict, is_right, judge_answer
from spanwise.types import AnswerSpan, Passage, Span

SENTENCE = "Ann Weaver founded the mill in 1887 because the river never froze."


def question(*answers: str) -> FolderQuestion:
    documents = ("mill.md", "history.md") if answers else ()
    return FolderQuestion("q", "…?", "factoid", answers, "", documents, bool(answers), False)


def answer(text: str, document: str = "mill.md", sentence: str = SENTENCE) -> AnswerSpan:
    passage = Passage(1, document, 0, len(sentence), sentence)
    span = Span(document, 0, len(text), text)
    return AnswerSpan(span, Span(document, 0, len(sentence), sentence), passage, None, 1, 1.0, None)


@pytest.mark.parametrize(
    ("gold", "span", "right"),
    [
        ("1887", "in 1887", True),
        ("The Mill", "mill!", True),
        ("weave", "weaver", False),
        ("froze river", "river froze once", True),
        ("one two three four", "two three four five six seven", True),
        ("one two three four", "two three four five six seven eight", False),
        ("the", "a", False),
        ("Ann", "Ann" + 12 * " x", True),
        ("Ann", "Ann" + 13 * " x", False),
        (30 * "x ", 80 * "x ", True),
        (30 * "x ", 81 * "x ", False),
    ],
)
def test_a_span_holds_the_gold_or_overlaps_it_and_is_not_too_long(gold: str, span: str, right: bool) -> None:
    assert is_right(question(gold), "mill.md", span, "") is right


def test_the_sentence_counts_as_the_span_does() -> None:
    asked = question("the river never froze")
    assert is_right(asked, "mill.md", "Ann Weaver", SENTENCE)
    assert not is_right(asked, "other.md", "Ann Weaver", SENTENCE)
    assert not is_right(asked, "mill.md", "Ann Weaver", "Ann Weaver did.")
    assert is_right(question("Ann Maria Weaver", "1887"), "mill.md", 19 * "x ", SENTENCE)


@pytest.mark.parametrize(
    ("answerable", "given", "verdict"),
    [
        (True, answer("1887"), Verdict.RIGHT),
        (True, answer("in 1887", document="history.md"), Verdict.RIGHT),
        (True, answer("1887", document="other.md"), Verdict.WRONG),
        (True, answer("1990", sentence="in 1990"), Verdict.WRONG),
        (True, None, Verdict.WRONGLY_DECLINED),
        (False, None, Verdict.RIGHTLY_DECLINED),
        (False, answer("1887"), Verdict.FALSE_ANSWER),
    ],
)
def test_verdicts(answerable: bool, given: AnswerSpan | None, verdict: Verdict) -> None:
    golds = ("1887",) if answerable else ()
    assert judge_answer(question(*golds), given) is verdict
