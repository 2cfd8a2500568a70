"""Which sentences repeat another, and what keeps them apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.summary.repeats import is_repeat

TERMS = st.lists(st.sampled_from(["mill", "burn", "may", "1811", "not", "12"]), max_size=8)


@given(TERMS)
def test_every_sentence_repeats_itself(terms):
    assert is_repeat(terms, terms)


@given(TERMS, TERMS)
def test_it_is_the_same_both_ways_round(terms, others):
    assert is_repeat(terms, others) == is_repeat(others, terms)


@pytest.mark.parametrize(
    ("one", "other", "repeats"),
    [
        ("the mill burnt down", "in may the mill burnt down again", True),
        ("the mill burnt down", "the barn burnt down", False),
        ("it sold 100 sacks of flour in a week", "it sold 1000 sacks of flour in a week", False),
        ("it sold sacks of flour in a week", "it sold sacks of flour in a week in 1811", True),
        ("the drug lowered blood pressure in men", "not the drug lowered blood pressure in men", False),
        ("they don't sell flour to the mill in may", "they sell flour to the mill in may", False),
        ("", "", True),
        ("", "the mill burnt", False),
        ("mill", "the mill burnt down", False),
    ],
)
def test_by_example(one, other, repeats):
    assert is_repeat(one.split(), other.split()) is repeats
