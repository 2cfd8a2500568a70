"""Answers in the same words are listed under the best of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise.pipelines.ask import merge_same_answers
from spanwise.pipelines.candidates import answer_key
from spanwise.types import AnswerSpan, Passage, Span


def answer(words: str, passage_id: int, score: float, start: int = 0) -> AnswerSpan:
    name = f"{passage_id}.txt"
    span = Span(name, start, start + len(words), words)
    passage = Passage(passage_id, name, 0, 100, "x" * 100)
    return AnswerSpan(span, span, span, passage, None, 1, score, None)


def test_the_best_answer_holds_those_of_other_passages_in_the_same_words():
    given_answers = [answer("Ada Rook", 1, 9), answer("Ute Falk", 2, 8), answer("ada rook.", 3, 7)]
    first, second = merge_same_answers(given_answers)
    assert (first.text, [other.passage.id for other in first.also_in]) == ("Ada Rook", [3])
    assert (second.text, second.also_in) == ("Ute Falk", ())


def test_only_what_a_passage_prefers_agrees():
    torn = [answer("Ada Rook", 1, 9), answer("1811", 2, 8), answer("Ada Rook", 2, 7, start=20)]
    assert [(one.text, one.also_in) for one in merge_same_answers(torn)] == [("Ada Rook", ()), ("1811", ())]


def test_a_repetition_in_the_same_passage_does_not_agree():
    [only] = merge_same_answers([answer("1811", 1, 9), answer("1811", 1, 9, start=20)])
    assert only.also_in == ()


@given(
    st.lists(
        st.tuples(st.sampled_from(["a mill", "Mill", "tram", "The tram!", ""]), st.integers(1, 4)), max_size=9
    )
)
def test_no_two_say_the_same_and_the_order_stays(rows):
    answers = [answer(words, passage, -place) for place, (words, passage) in enumerate(rows)]
    found = merge_same_answers(answers)
    assert [answer_key(one.text) for one in found] == list(
        dict.fromkeys(answer_key(one.text) for one in answers)
    )
    for one in found:
        places = [one.passage.id, *(other.passage.id for other in one.also_in)]
        assert len(set(places)) == len(places)
        assert {answer_key(other.text) for other in one.also_in} <= {answer_key(one.text)}
        assert all(other.also_in == () and other.score <= one.score for other in one.also_in)
