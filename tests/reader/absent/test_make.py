from __future__ import annotations

import pytest

from spanwise.reader.absent.make import KINDS, unanswerable
from spanwise.reader.examples import ReaderExample


def example(i: int, question: str, passage: str, answer: str, group: str = "Mill") -> ReaderExample:
    start = passage.index(answer)
    return ReaderExample(f"q{i}", question, passage, start, start + len(answer), group)


EXAMPLES = [
    example(0, "Who built the mill in 1870?", "The mill was built by Ada Rook in 1870.", "Ada Rook"),
    example(1, "Who runs the mill?", "The mill is run by the council today.", "the council"),
    example(2, "Who painted the mill?", "Ada Rook sold it; Ivo painted the mill.", "Ivo"),
    example(3, "Who did open the tram?", "The tram was opened by Ute.", "Ute", "Tram"),
]


def originals(made):
    by_id = {one.id: one for one in EXAMPLES}
    return [by_id[one.id.rsplit("-", 1)[0]] for one in made]


def test_the_passage_is_of_the_article_and_does_not_hold_the_answer():
    made = unanswerable(EXAMPLES, {"article": 1.0}, seed=0)
    assert sorted(one.id for one in made) == ["q0-article", "q1-article", "q2-article"]
    for one, original in zip(made, originals(made), strict=True):
        assert one.group == original.group
        assert one.passage != original.passage
        assert original.answer.lower() not in one.passage.lower()
        assert (one.start, one.end, one.answer) == (None, None, "")


def test_retrieved_passages_that_hold_the_answer_are_not_used():
    found = {"Who runs the mill?": ["THE COUNCIL met.", "The mill has a wheel."]}
    [made] = unanswerable(EXAMPLES, {"retrieved": 1.0}, 0, found)
    assert (made.id, made.passage) == ("q1-retrieved", "The mill has a wheel.")


def test_a_changed_question_keeps_its_passage():
    made = unanswerable(EXAMPLES, {"negation": 1.0, "figures": 1.0}, seed=0)
    assert {one.id for one in made} == {"q3-negation", "q0-figures"}
    for one, original in zip(made, originals(made), strict=True):
        assert one.passage == original.passage
        assert one.question != original.question


def test_a_share_is_of_the_answerable_ones_and_a_seed_repeats_it():
    assert len(unanswerable(EXAMPLES, {"article": 0.5}, seed=3)) == 2
    assert unanswerable(EXAMPLES, {"article": 0.5}, 3) == unanswerable(EXAMPLES, {"article": 0.5}, 3)


@pytest.mark.parametrize("shares", [{"guessed": 0.5}, {"article": 1.5}, {"retrieved": 0.1}])
def test_what_cannot_be_made_is_refused(shares):
    with pytest.raises(ValueError, match=f"expected one of {', '.join(KINDS)}|need lists"):
        unanswerable(EXAMPLES, shares, seed=0)
