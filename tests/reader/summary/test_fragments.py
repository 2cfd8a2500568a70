"""What can stand alone in a summary and what cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.summary.fragments import FRAGMENT, LEANING, WHOLE, wholeness


@pytest.mark.parametrize(
    "sentence",
    [
        "The mill on the river burnt down in May.",
        "Ada Rook, a carpenter from Ulm, asked: who will build the mill?",
        "“The old mill has not been sold,” she said on Monday.",
        "It is known that the river floods the mill in spring.",
        "- The third wheel was cast in Ulm in 1811.",
        "Its grain rose by 12 percent.[3]"[4:] + " The price of flour rose by 12 percent.[3]",
        "河边的磨坊在五月的一场大火中被完全烧毁了，后来又重建。",
        "Professor E: So the group decided to record more meetings.",
    ],
)
def test_a_sentence_that_stands_alone_is_whole(sentence):
    assert wholeness(sentence) == WHOLE


@pytest.mark.parametrize(
    "sentence",
    [
        "However, it was built again in two years.",
        "It was built again by a carpenter from Ulm.",
        "- They sold the wheel to a carpenter from Ulm.",
        "“But the wheel was cast in Ulm in 1811,” said Ada.",
        "THIS was said in every house on the river.",
    ],
)
def test_a_sentence_that_leans_on_another_is_scored_down(sentence):
    assert wholeness(sentence) == LEANING


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "   ",
        "—",
        "Yes.",
        "The mill, rebuilt.",
        "## The mill on the river and what became of it.",
        "The mill on the river and what became of it",
        "The following three wheels were cast in Ulm:",
        "| 1811 | the mill | Ada Rook | burnt down in May. |",
        "1811\tthe mill\tAda Rook\tburnt down in May.",
        "return [one for one in mills if one.year == 1811];",
        "def build(mill: Mill, carpenter: Person) -> Mill: ...",
        "```python that builds a mill on a river.",
        "$ make mill and then run it again.",
    ],
)
def test_a_fragment_is_scored_down_most(sentence):
    assert wholeness(sentence) == FRAGMENT


@given(st.text(max_size=200))
def test_any_text_has_one_of_three_factors(text):
    assert wholeness(text) in (WHOLE, LEANING, FRAGMENT)


@pytest.mark.parametrize(
    "text", ["- " * 50_000, "| " * 50_000, "a\t" * 50_000, "." * 100_000, "\"'" * 50_000]
)
def test_long_runs_take_no_longer_than_their_length(text):
    assert wholeness(text) == FRAGMENT
