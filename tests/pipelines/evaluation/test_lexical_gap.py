"""The lexical gap on records made by hand."""

from __future__ import annotations

import pytest

from spanwise.corpora.squad import Article, GoldAnswer, Paragraph, Question, SquadDataset
from spanwise.eval.question_record import QuestionRecord
from spanwise.pipelines.evaluation.lexical_gap import gold_places, lexical_gaps

CONTEXT = "It rains. The mill was built by Ada Rook. It stands."


def dataset(n: int) -> SquadDataset:
    answer = GoldAnswer("Ada Rook", CONTEXT.index("Ada"))
    questions = tuple(Question(f"q{i}", "Who founded the mill?", (answer,)) for i in range(n))
    return SquadDataset("1.1", (Article("Town", (Paragraph(CONTEXT, questions),)),))


def records(*found: float) -> list[QuestionRecord]:
    return [QuestionRecord("x", f"q{i}", "?", {"recall@20": value}) for i, value in enumerate(found)]


def answers(*scores: tuple[float, float]) -> list[QuestionRecord]:
    return [
        QuestionRecord("x", f"q{i}", "?", {"recall@20": 1.0, "exact": exact, "f1": f1})
        for i, (exact, f1) in enumerate(scores)
    ]


def test_what_one_finds_and_the_other_does_not_is_counted_both_ways() -> None:
    [gap] = lexical_gaps(records(1, 1, 1, 0, 0), records(1, 0, 0, 1, 0), dataset(5))
    assert (gap.questions, gap.both.questions) == (5, 1)
    assert (gap.only_first.questions, gap.only_second.questions) == (2, 1)


def test_an_answer_that_shares_a_word_with_a_gold_is_no_failure() -> None:
    first, second = answers((1, 1), (1, 1)), answers((0, 0), (0, 0.5))
    answered = lexical_gaps(first, second, dataset(2))[1]
    assert [one.id for one in answered.only_first.quoted] == ["q0"]


def test_a_quote_is_the_sentence_of_the_answer_with_its_shared_words() -> None:
    place = gold_places(dataset(1), ["q0"])["q0"]
    assert (place.answer, place.sentence) == ("Ada Rook", "The mill was built by Ada Rook.")
    assert place.overlap == 0.5  # of "founded" and "mill"


def test_quotes_are_drawn_by_the_digest_of_the_id_whatever_the_order() -> None:
    first, second = records(*[1] * 20), records(*[0] * 20)
    [gap] = lexical_gaps(first, second, dataset(20), quoted=3)
    [turned] = lexical_gaps(first[::-1], second[::-1], dataset(20), quoted=3)
    assert gap == turned
    assert len(gap.only_first.quoted) == 3


def test_questions_of_other_data_are_refused() -> None:
    with pytest.raises(ValueError, match="no answer to the question 'q1'"):
        lexical_gaps(records(1, 1), records(0, 0), dataset(1))
