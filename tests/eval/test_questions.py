"""Verdicts on answers."""

import pytest

from spanwise.eval.questions import (
    FolderQuestion,
    Verdict,
    is_complete,
    is_right,
    is_right_shown,
    judge_answer,
    shown_text,
)
from spanwise.types import AnswerSpan, Passage, Span

SENTENCE = "Ann Weaver founded the mill in 1887 because the river never froze."


def question(*answers: str) -> FolderQuestion:
    documents = ("mill.md", "history.md") if answers else ()
    return FolderQuestion("q", "…?", "factoid", answers, documents, bool(answers))


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


def whole(text: str) -> list[tuple[int, int]]:
    """A text as a single sentence."""
    return [(0, len(text))]


def shown(before: int, span: int, after: int) -> tuple[int, int, int]:
    """The words shown before the span, of it, and after it, in a sentence of so many words."""
    text = " ".join([*before * ["b"], *span * ["s"], *after * ["a"]])
    start = 2 * before
    passage = Passage(1, "mill.md", 100, 100 + len(text), text)
    place = Span("mill.md", 100 + start, 100 + start + 2 * span - 1, span * "s ")
    words = shown_text(place, passage, whole).split()
    return words.count("b"), words.count("s"), words.count("a")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ((10, 5, 10), (10, 5, 10)),
        ((100, 4, 100), (28, 4, 28)),
        ((100, 5, 100), (27, 5, 28)),
        ((3, 5, 100), (3, 5, 52)),
        ((100, 5, 0), (55, 5, 0)),
        ((9, 60, 9), (0, 60, 0)),
        ((9, 70, 9), (0, 70, 0)),
    ],
)
def test_sixty_words_of_the_sentence_are_shown(
    sentence: tuple[int, int, int], expected: tuple[int, int, int]
) -> None:
    assert shown(*sentence) == expected


def test_a_span_in_a_word_is_shown_with_the_whole_word() -> None:
    text = "Built in 1887-1890."
    passage = Passage(1, "mill.md", 0, len(text), text)
    assert shown_text(Span("mill.md", 9, 13, "1887"), passage, whole) == text


def test_the_other_sentences_of_a_passage_do_not_count() -> None:
    text = "Ann built it. Bob sold it. Carl burned it."
    passage = Passage(1, "mill.md", 0, len(text), text)
    sentences = [(0, 13), (14, 26), (27, 42)]
    in_one = Span("mill.md", 14, 17, "Bob")
    in_two = Span("mill.md", 0, 17, text[:17])
    assert shown_text(in_one, passage, lambda _: sentences) == "Bob sold it."
    assert shown_text(in_two, passage, lambda _: sentences) == "Ann built it. Bob"
    assert is_right_shown(question("sold it"), in_one, passage, lambda _: sentences)
    assert not is_right_shown(question("sold it"), in_two, passage, lambda _: sentences)
    assert not is_right(question("sold it"), "mill.md", "Bob")


@pytest.mark.parametrize(
    ("kind", "answers", "complete"),
    [
        ("how-to", ("Mix.", "Bake it"), True),
        ("how-to", ("Mix.", "Eat."), False),
        ("list", ("- mix\n- bake it", "other"), True),
        ("list", ("- mix\n- eat",), False),
        ("list", ("mix",), None),
    ],
)
def test_steps_are_complete_with_all_items_of_a_gold_list(kind, answers, complete) -> None:
    question = FolderQuestion("1", "How?", kind, answers, ("a.md",), True)
    steps = [Span("a.md", 0, 4, "Mix."), Span("a.md", 5, 13, "Bake it.")]
    assert is_complete(question, steps) is complete


@pytest.mark.parametrize(
    ("answerable", "span", "verdict"),
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
def test_verdicts_of_answers_and_declined_questions(
    answerable: bool, span: AnswerSpan | None, verdict: Verdict
) -> None:
    golds = ("1887",) if answerable else ()
    assert judge_answer(question(*golds), span, whole) is verdict
