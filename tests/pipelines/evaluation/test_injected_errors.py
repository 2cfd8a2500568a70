"""Errors put into true sentences."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.pipelines.evaluation.injected_errors import Injector

POOL = ["The tram of Ute Falk ran in 1903.", "The weir of Otto Brandt has not burned."]
COMMON = frozenset("the a of by in was not has".split())
INJECTOR = Injector(POOL, COMMON.__contains__)


def made(sentence, seed=0):
    return {one.kind: one.text for one in INJECTOR.errors(sentence, sentence, random.Random(seed))}


def test_each_kind_changes_what_it_says():
    sentence = "The mill of Ada Rook was sold in May 1911 for 250 pounds."
    found = made(sentence)
    assert set(found) == {"number", "date", "name", "negation", "foreign"}
    assert found["negation"] == sentence.replace("was sold", "was not sold")
    assert "250" not in found["number"]
    assert "1911" in found["number"]
    assert "May" not in found["date"]
    assert ("Ada" in found["name"]) != ("Rook" in found["name"])
    assert found["foreign"] in POOL


@pytest.mark.parametrize("denied", ["It has not burned.", "It never burned."])
def test_a_negation_is_taken_out_where_there_is_one(denied):
    assert made(denied)["negation"] in ("It has burned.", "It burned.")


def test_what_has_no_room_for_an_error_gets_none():
    assert set(made("Mills burn.")) == {"foreign"}


@given(st.text(max_size=60), st.integers(0, 50))
def test_an_error_is_never_the_sentence_itself(sentence, seed):
    assert all(text != sentence for text in made(sentence, seed).values())
