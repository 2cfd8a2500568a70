from __future__ import annotations

from small_squad import CONTEXTS, Scripted

from spanwise.pipelines.training.reader_quality import held_back_absent, reader_figures
from spanwise.reader.training import ReaderExample

EXAMPLES = [
    ReaderExample(
        f"q{i}", question, context, context.index(answer), context.index(answer) + len(answer), "Town"
    )
    for i, (context, (question, answer)) in enumerate(CONTEXTS.items())
]


def test_answers_count_though_they_would_be_declined():
    figures = reader_figures(Scripted(), EXAMPLES, {"sold": [EXAMPLES[0]]})
    assert (figures["exact"], figures["f1"]) == (100.0, 100.0)
    assert figures["answered"] < 100  # it prefers the null answer for the tram
    assert figures["declined_sold"] == 0


def test_without_absent_ones_nothing_is_said_of_declining():
    assert set(reader_figures(Scripted(answers_null=False), EXAMPLES)) == {"exact", "f1"}


def test_kinds_that_cannot_be_made_are_left_out():
    held = held_back_absent(EXAMPLES, 2)
    assert {kind: len(made) for kind, made in held.items()} == {"article": 2, "opposites": 2}
