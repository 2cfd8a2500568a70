"""What is packed comes back equal, holds no text of a document, and is rebuilt from the passages given."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.pipelines.packing import pack, passages_in, unpack
from spanwise.types import (
    Answer,
    AnswerSpan,
    Filter,
    Hit,
    Passage,
    QuestionWord,
    RejectedSpan,
    Scope,
    Span,
    UnknownWord,
)

TEXT = "The mill was built in 1811 by Ada Rook; é \ud800 \u2028 stones."
PLACES = [(0, 20), (10, 40), (10, len(TEXT))]  # passages of a document may overlap
PASSAGES = [
    Passage(1 + 3 * d + i, f"d{d}", start, end, TEXT[start:end], d or None, 3, ("Mill",) * i, "row 1" * d)
    for d in range(2)
    for i, (start, end) in enumerate(PLACES)
]
passages = st.sampled_from(PASSAGES)
floats = st.floats(allow_nan=False)
words = st.text(st.characters(codec=None), max_size=8)


def span_of(passage: Passage, a: float, b: float) -> Span:
    start, end = sorted(passage.start + round(x * len(passage.text)) for x in (a, b))
    return Span(passage.document_id, start, end, TEXT[start:end])


@st.composite
def answer_spans(draw) -> AnswerSpan:
    passage, parts = draw(passages), draw(st.tuples(*[st.floats(0, 1)] * 4))
    span, sentence = span_of(passage, *parts[:2]), span_of(passage, *parts[2:])
    score, confidence = draw(floats), draw(st.none() | floats)
    again = tuple(draw(st.lists(passages, max_size=2)))
    return AnswerSpan(span, span, sentence, passage, passage.page, 3, score, confidence, "", again)


hits = st.builds(
    Hit,
    passages,
    floats,
    st.integers(1, 99),
    st.dictionaries(words, floats),
    st.lists(passages, max_size=2).map(tuple),
)
question_words = st.builds(QuestionWord, st.integers(0, 99), st.integers(0, 99))
rejected = st.builds(
    RejectedSpan,
    answer_spans(),
    st.none() | floats,
    st.none() | floats,
    st.lists(question_words, max_size=2).map(tuple),
)
unknown = st.builds(
    lambda word, passage: UnknownWord(word, passage and span_of(passage, 0.1, 0.6), passage),
    question_words,
    st.none() | passages,
)
answers = st.builds(
    Answer,
    words,
    st.none() | answer_spans(),
    st.lists(answer_spans(), max_size=3).map(tuple),
    *[st.integers(0, 10**6)] * 3,
    st.lists(rejected, max_size=2).map(tuple),
    st.lists(unknown, max_size=2).map(tuple),
    st.lists(hits, max_size=3).map(tuple),
    words,
    st.dictionaries(words, floats),
    st.none() | st.builds(Scope, st.just(Filter()), *[st.integers(0, 99)] * 3),
    st.booleans(),
)


def again(kind, value):
    """The value after it was packed, written as JSON, read and unpacked."""
    stored = json.loads(json.dumps(pack(value)))
    return unpack(kind, stored, {passage.id: passage for passage in passages_in(value)})


@given(answers)
def test_an_answer_comes_back_equal(answer):
    assert again(Answer, answer) == answer


@given(st.lists(hits, max_size=5))
def test_hits_come_back_equal(found):
    assert again(list[Hit], found) == found


@given(answers.filter(lambda answer: answer.best))
def test_no_text_of_a_document_is_packed(answer):
    assert "mill" not in json.dumps(pack(replace(answer, question="", retriever="")))


def test_words_are_those_of_the_passages_given():
    span = Span("a", 0, 3, "old")
    assert unpack(Span, pack(span), {1: Passage(1, "a", 0, 3, "new")}).text == "new"


@pytest.mark.parametrize("packed", [["a", 2, 9], ["b", 0, 1], ["a", 2, 1], ["a", 0]])
def test_a_span_outside_of_the_passages_is_refused(packed):
    with pytest.raises(ValueError, match=r"passage|unpack"):
        unpack(Span, packed, {1: Passage(1, "a", 0, 3, "new")})
