from __future__ import annotations

import pytest

from spanwise.eval.abstention import (
    Verdict,
    VerdictCounts,
    count_verdicts,
    is_right,
    judge,
    text_matches,
    verdict_of,
)
from spanwise.eval.question_record import QuestionRecord
from spanwise.eval.question_set import FolderQuestion
from spanwise.types import AnswerSpan, Passage, Span

SENTENCE = "Ann Weaver founded the mill in 1887 because the river never froze."


def question(kind: str = "factoid", *answers: str, answerable: bool = True) -> FolderQuestion:
    documents = ("mill.md", "history.md") if answerable else ()
    return FolderQuestion(
        "q", "…?", kind, answers, SENTENCE if answerable else "", documents, answerable, False
    )


def answer(text: str, document: str = "mill.md", sentence: str = SENTENCE) -> AnswerSpan:
    passage = Passage(1, document, 0, len(sentence), sentence)
    span = Span(document, 0, len(text), text)
    return AnswerSpan(
        span,
        span,
        Span(document, 0, len(sentence), sentence),
        passage,
        page=None,
        line=1,
        score=1.0,
        confidence=None,
    )


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


@pytest.mark.parametrize("kind", ["factoid", "how", "why", "list"])
def test_the_sentence_counts_as_the_span_does(kind: str) -> None:
    assert is_right(question(kind, "the river never froze"), answer("Ann Weaver"))
    assert not is_right(
        question(kind, "the river never froze"), answer("Ann Weaver", sentence="Ann Weaver did.")
    )


def test_any_gold_and_any_named_document_will_do() -> None:
    asked = question("factoid", "Ann Weaver", "A. Weaver")
    assert is_right(asked, answer("by A. Weaver", document="history.md"))


def test_right_words_from_a_wrong_document_are_wrong() -> None:
    assert judge(question("factoid", "1887"), answer("1887", document="other.md")) is Verdict.WRONG


@pytest.mark.parametrize(
    ("answerable", "given", "verdict"),
    [
        (True, answer("1887"), Verdict.RIGHT),
        (True, answer("1990", sentence="in 1990"), Verdict.WRONG),
        (True, None, Verdict.WRONGLY_DECLINED),
        (False, None, Verdict.RIGHTLY_DECLINED),
        (False, answer("1887"), Verdict.FALSE_ANSWER),
    ],
)
def test_verdicts(answerable: bool, given: AnswerSpan | None, verdict: Verdict) -> None:
    golds = ("1887",) if answerable else ()
    assert judge(question("factoid", *golds, answerable=answerable), given) is verdict


def test_counts_of_every_verdict() -> None:
    counts = count_verdicts([*Verdict, Verdict.RIGHT])
    assert counts == VerdictCounts(2, 1, 1, 1, 1)
    assert (counts.answerable, counts.absent) == (4, 2)


def test_counts_of_nothing_are_zero() -> None:
    assert count_verdicts([]) == VerdictCounts()


@pytest.mark.parametrize(
    ("answerable", "prediction", "scores", "verdict"),
    [
        (True, "1887", {"right": 1.0}, Verdict.RIGHT),
        (True, "1887", {"exact": 0.0, "f1": 0.9}, Verdict.WRONG),
        (True, "1887", {"right": 0.0, "exact": 1.0}, Verdict.WRONG),
        (True, "", {"exact": 1.0, "answered": 0.0}, Verdict.WRONGLY_DECLINED),
        (False, "", {"declined": 1.0}, Verdict.RIGHTLY_DECLINED),
        (False, "1887", {"declined": 0.0}, Verdict.FALSE_ANSWER),
        (True, None, {"exact": 1.0}, None),
        (True, "a summary", {"rougeL": 1.0}, None),
        (True, "", {}, None),
    ],
)
def test_verdicts_of_records(
    answerable: bool, prediction: str | None, scores: dict[str, float], verdict: Verdict | None
) -> None:
    record = QuestionRecord("bm25", "q1", "Who?", scores, answerable, prediction=prediction)
    assert verdict_of(record) is verdict
