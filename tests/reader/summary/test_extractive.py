"""Extractive summaries: word for word, within their limits, of what was asked, nothing twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.summary.extractive import Limits, Weights, extract
from spanwise.types import Passage

MILL = [
    "The mill on the river burnt down in May.",
    "However, the barn beside it was not harmed by the fire.",
    "Ada Rook built the mill again in two years.",
    "The third wheel of the mill was cast in Ulm.",
    "Fishing rights on the river were sold to a baker.",
    "The baker sold bread to the men who built the mill.",
]
PLACES = st.lists(st.lists(st.sampled_from([*MILL, "Yes.", "—", "# Mills"]), max_size=4), max_size=4)


def terms(text: str) -> list[str]:
    return text.lower().replace(".", "").replace(",", "").replace("—", "").split()


def passage(document_id: str, sentences: list[str], start: int = 0) -> Passage:
    text = " ".join(sentences)
    return Passage(0, document_id, start, start + len(text), text)


def spans(sentences: list[str]) -> list[tuple[int, int]]:
    found, at = [], 0
    for one in sentences:
        found.append((at, at + len(one)))
        at += len(one) + 1
    return found


def chosen(*passages: list[str], question="", limits=Limits(), **more):  # noqa: B008
    given = [passage(f"doc-{at}", one) for at, one in enumerate(passages)]
    return extract(given, [spans(one) for one in passages], terms, question.split(), limits, **more)


def texts(found) -> list[str]:
    return [one.span.text for one in found]


@given(
    PLACES, st.sampled_from(["", "mill", "who sold bread"]), st.integers(0, 5), st.none() | st.integers(0, 40)
)
def test_sentences_are_verbatim_and_within_the_limits(passages, question, n, words):
    found = chosen(*passages, question=question, limits=Limits(n, words))
    assert len(found) <= n
    assert words is None or sum(len(text.split()) for text in texts(found)) <= words
    for one in found:
        start, end = one.span.start - one.passage.start, one.span.end - one.passage.start
        assert one.passage.text[start:end] == one.span.text
        assert one.span.document_id == one.passage.document_id
        assert 0 <= one.score <= 1


@given(PLACES, st.sampled_from(["", "mill", "sold bread"]), st.randoms(use_true_random=False))
def test_the_order_of_passages_changes_only_the_order_of_documents(sentences, question, random):
    given = [(passage(f"doc-{at}", one), spans(one)) for at, one in enumerate(sentences)]
    moved = random.sample(given, len(given))
    summaries = [
        extract([one for one, _ in pairs], [places for _, places in pairs], terms, question.split())
        for pairs in (given, moved)
    ]
    assert {one.span: one.score for one in summaries[0]} == {one.span: one.score for one in summaries[1]}


@given(PLACES)
def test_nothing_is_said_twice(passages):
    found = texts(chosen(*passages, limits=Limits(9)))
    assert len(found) == len(set(found))


def test_the_question_decides():
    [best] = chosen(MILL, question="bread baker", limits=Limits(1))
    assert best.span.text == MILL[5]
    [best] = chosen(MILL, question="third wheel cast", limits=Limits(1))
    assert best.span.text == MILL[3]


def test_without_a_question_the_most_central_sentence_is_chosen():
    alike = ["The mill burnt down in May.", "In May the old mill burnt.", "A mill burnt in a night."]
    [best] = chosen([*alike, "Bread was sold by women of Ulm."], limits=Limits(1))
    assert best.span.text in alike


def test_a_question_about_something_else_gives_the_plain_summary():
    assert chosen(MILL, question="submarine") == chosen(MILL)


def test_sentences_stand_in_reading_order():
    later, sooner = passage("b", MILL[:2], 200), passage("b", MILL[2:4])
    places = [spans(MILL[:2]), spans(MILL[4:]), spans(MILL[2:4])]
    found = extract([later, passage("a", MILL[4:]), sooner], places, terms, limits=Limits(9))
    order = [(one.span.document_id, one.span.start) for one in found]
    assert order == sorted(order, key=lambda place: ("ba".index(place[0]), place[1]))
    assert len(found) == 6


def test_the_overlap_of_two_passages_is_one_place():
    text = " ".join(MILL)
    places = spans(MILL)
    whole, part = Passage(0, "a", 0, len(text), text), Passage(0, "a", 41, len(text), text[41:])
    inside = [(start - 41, end - 41) for start, end in places[1:]]
    twice = extract([part, whole], [inside, places], terms, limits=Limits(9))
    once = extract([whole], [places], terms, limits=Limits(9))
    assert [one.span for one in twice] == [one.span for one in once]


def test_a_near_duplicate_of_another_document_is_left_out():
    copy = ["Ada Rook built the mill again in two short years."]
    found = chosen(MILL[2:3], copy, MILL[3:4], question="rook built mill")
    assert len(found) == 2
    assert texts(found)[1] == MILL[3]


def test_a_sentence_that_does_not_fit_leaves_room_for_a_shorter_one():
    long = "Ada Rook " + "and many other carpenters " * 4 + "built the mill."
    assert texts(chosen([long, MILL[2]], question="rook", limits=Limits(3, 10))) == [MILL[2]]


def test_fragments_come_last():
    found = chosen(["# The mill and Ada Rook", MILL[2]], question="ada rook mill", limits=Limits(1))
    assert texts(found) == [MILL[2]]


def test_relevance_finds_what_shares_no_term():
    told = [0, 0, 0, 0, 0.9, 0.1]
    [best] = chosen(MILL, question="angling", limits=Limits(1), relevance=told)
    assert best.span.text == MILL[4]


def test_relevance_keeps_to_its_sentences_whatever_the_order():
    given = [passage("b", MILL[:3]), passage("a", MILL[3:])]
    places = [spans(MILL[:3]), spans(MILL[3:])]
    [best] = extract(given, places, terms, ["angling"], Limits(1), relevance=[0, 0, 0, 0, 1, 0])
    assert best.span.text == MILL[4]


def test_a_share_of_zero_is_the_summary_without_relevance():
    told = chosen(MILL, question="mill", relevance=[1, 2, 3, 4, 5, 6], weights=Weights(share=0.0))
    assert told == chosen(MILL, question="mill")


def test_what_is_far_less_relevant_than_the_best_is_left_out():
    told = [0.1, 0.4, 0.8, 0.39, 0.0, 0.5]
    weights = Weights(least=0.5, leaning=1.0)
    found = chosen(MILL, question="mill", limits=Limits(6), relevance=told, weights=weights)
    assert texts(found) == [MILL[1], MILL[2], MILL[5]]


def test_a_fragment_counts_by_its_factor():
    row = "| Ada Rook | miller |"
    given = {"question": "miller", "limits": Limits(1), "relevance": [1, 0.8]}
    assert texts(chosen([row, MILL[2]], **given)) == [MILL[2]]
    assert texts(chosen([row, MILL[2]], **given, weights=Weights(fragment=1.0))) == [row]


@pytest.mark.parametrize("sentences", [[], ["—"], ["Yes."], ["—", "—"], [MILL[0]] * 4, ["\x00 \ud800 ."]])
def test_hostile_sentences_give_at_most_what_there_is(sentences):
    found = chosen(sentences, question="who")
    assert len(found) == min(1, len(sentences))


def test_no_passages_give_nothing():
    assert extract([], [], terms) == ()


@pytest.mark.parametrize("place", [(-1, 3), (0, 99), (5, 5), (5, 2)])
def test_a_span_outside_of_its_passage_is_refused(place):
    with pytest.raises(ValueError, match="no span of a passage of 40 characters"):
        extract([passage("a", MILL[:1])], [[place]], terms)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="1 passages and 0 lists"):
        extract([passage("a", MILL)], [], terms)
    with pytest.raises(ValueError, match="relevance of 2 for 6 sentences"):
        chosen(MILL, relevance=[1.0, 2.0])
    with pytest.raises(ValueError, match="-1 sentences"):
        Limits(-1)
