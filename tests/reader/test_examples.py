from __future__ import annotations

from spanwise.reader.examples import ReaderExample, unanswerable


def example(i: int, question: str, passage: str, answer: str, group: str = "Mill") -> ReaderExample:
    start = passage.index(answer)
    return ReaderExample(f"q{i}", question, passage, start, start + len(answer), group)


EXAMPLES = [
    example(0, "Who built the mill?", "The mill was built by Ada Rook.", "Ada Rook"),
    example(1, "Who runs the mill?", "The mill is run by the council today.", "the council"),
    example(2, "Who painted the mill?", "Ada Rook sold it; Ivo painted the mill.", "Ivo"),
    example(3, "Who founded the tram?", "The tram was founded by Ute.", "Ute", "Tram"),
]


def test_the_passage_is_of_the_article_and_does_not_hold_the_answer():
    for made in unanswerable(EXAMPLES, 1.0, seed=0):
        original = next(e for e in EXAMPLES if made.id == f"{e.id}-absent")
        assert made.group == original.group
        assert made.passage != original.passage
        assert original.answer.lower() not in made.passage.lower()
        assert (made.start, made.end, made.answer) == (None, None, "")


def test_an_article_without_another_passage_gives_none():
    assert [made.id for made in unanswerable(EXAMPLES, 1.0, seed=0)] == [
        "q0-absent",
        "q1-absent",
        "q2-absent",
    ]


def test_the_same_seed_makes_the_same_examples():
    assert unanswerable(EXAMPLES, 0.5, seed=3) == unanswerable(EXAMPLES, 0.5, seed=3)
    assert len(unanswerable(EXAMPLES, 0.5, seed=3)) <= 2
