"""Verdicts on answers."""

from __future__ import annotations

import pytest

from spanwise.eval.questions import FolderQuestion, Verdict, is_right, judge_answer, text_matches
from spanwise.types import AnswerSpan, Passage, Span

SENTENCE = "Ann Weaver founded the mill in 1887 because the river never froze."


def question(*answers: str) -> FolderQuestion:
    documents = ("mill.md", "history.md") if answers else ()
    return FolderQuestion("q", "…?", "factoid", answers, "", documents, bool(answers), False)


def answer(text: str, document: str = "mill.md", sentence: str = SENTENCE) -> AnswerSpan:
    passage = Passage(1, document, 0, len(sentence), sentence)
    span = Span(document, 0, len(text), text)
    return AnswerSpan(span, span, Span(document, 0, len(sentence), sentence), passage, None, 1, 1.0, None)


@pytest.mark.parametrize(
    ("gold", "text", "matches"),
    [
        ("1887", "in 1887", True),
        ("The Mill", "mill!", True),
        ("Ann Weaver", "Weaver", True),
        ("Ann Maria Berta Weaver", "Weaver", False),
        ("river never froze", "the river froze", False),
        ("froze river", "river froze", False),
        ("weave", "weaver", False),
        ("Ann", "", False),
        ("the", "a", False),
    ],
)
def test_text_matches(gold: str, text: str, matches: bool) -> None:
    assert text_matches(gold, text) is matches


def test_the_sentence_counts_as_the_span_does() -> None:
    asked = question("the river never froze")
    assert is_right(asked, answer("Ann Weaver"))
    assert not is_right(asked, answer("Ann Weaver", sentence="Ann Weaver did."))


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
