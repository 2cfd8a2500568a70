"""Unanswerable questions: no passage answers them, and the seed decides which."""

import pytest

from spanwise.reader.training import ReaderExample
from spanwise.reader.unanswerable import KINDS, unanswerable

MILL = "Ada Rook built the mill in 1811. It has 3 wheels."
TRAM = "Otto Falk opened the tram in 1903. In 1911 it ran to Lower Varrow."
RIVER = "The Ansa is the longest river. The first bridge is of 1750."


def example(number, question, passage, answer):
    start = passage.index(answer)
    return ReaderExample(f"q{number}", question, passage, start, start + len(answer), "Town")


EXAMPLES = [
    example(0, "What did Ada Rook build in 1811?", MILL, "the mill"),
    example(1, "When did Otto Falk open the tram?", TRAM, "1903"),
    example(2, "Where did the tram run in 1911?", TRAM, "Lower Varrow"),
    example(3, "Which river is the longest?", RIVER, "Ansa"),
    example(4, "When was the first bridge built?", RIVER, "1750"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_no_passage_answers_its_question(kind):
    made = unanswerable(EXAMPLES, {kind: 1.0}, 0)
    assert made
    before = {changed.id: changed for changed in EXAMPLES}
    for changed in made:
        source = before[changed.id.removesuffix(f"-{kind}")]
        assert changed.start is None
        assert changed.end is None
        assert changed.group == source.group
        if kind == "article":
            assert changed.question == source.question
            assert source.answer not in changed.passage
        else:
            [old, new] = [set(each.question.split()) for each in (source, changed)]
            assert changed.passage == source.passage
            assert new - old
            assert not any(word.strip("?") in changed.passage for word in new - old)


def test_the_seed_and_the_share_decide():
    assert unanswerable(EXAMPLES, {"names": 1.0}, 5) == unanswerable(EXAMPLES, {"names": 1.0}, 5)
    assert len(unanswerable(EXAMPLES, {"article": 0.2}, 0)) == 1
    assert unanswerable([example(0, "Who?", MILL, "Ada Rook")], dict.fromkeys(KINDS, 1.0), 0) == []


def test_a_question_asks_for_another_rank():
    made = {each.question for seed in range(20) for each in unanswerable(EXAMPLES, {"ranks": 1.0}, seed)}
    rivers = {f"Which river is the {rank}?" for rank in ("shortest", "second longest", "third longest")}
    others = ("second", "third", "fourth", "fifth", "last")
    bridges = {f"When was the {rank} bridge built?" for rank in others}
    assert made == rivers | bridges
