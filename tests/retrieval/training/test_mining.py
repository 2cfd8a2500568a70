from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.retrieval.training.mining import Mining, negatives

PASSAGES = [f"passage {i}" for i in range(30)]
RANKINGS = st.lists(st.lists(st.sampled_from(PASSAGES), unique=True, max_size=20), max_size=3)
MINING = st.builds(
    Mining, hard=st.integers(1, 8), easy=st.integers(0, 4), depth=st.integers(1, 12), alike=st.just(0.5)
)


def mined(rankings, mining, answers=(), alike=(), others=PASSAGES, seed=0):
    return negatives(
        PASSAGES[0],
        rankings,
        others,
        lambda passage: passage in answers,
        lambda positive, passage: 0.9 if passage in alike else 0.1,
        mining,
        random.Random(seed),
    )


@given(RANKINGS, MINING, st.sets(st.sampled_from(PASSAGES)), st.sets(st.sampled_from(PASSAGES)))
def test_l18_no_negative_answers_the_question_or_repeats_its_passage(rankings, mining, answers, alike):
    found = mined(rankings, mining, answers, alike)
    assert not {PASSAGES[0], *answers, *alike} & set(found)
    assert len(set(found)) == len(found) <= mining.hard + mining.easy


@given(RANKINGS, MINING)
def test_hard_negatives_come_from_as_deep_as_was_said(rankings, mining):
    found = mined(rankings, mining, others=())
    assert set(found) <= {passage for ranking in rankings for passage in ranking[: mining.depth]}


@given(RANKINGS, MINING, st.integers())
def test_the_same_seed_mines_the_same(rankings, mining, seed):
    assert mined(rankings, mining, seed=seed) == mined(rankings, mining, seed=seed)


def test_rankings_take_turns():
    rankings = [["a", "b", "c"], ["d", "a", "e"]]
    assert mined(rankings, Mining(hard=4, easy=0)) == ("a", "d", "b", "c")


def test_easy_ones_follow_the_hard_ones():
    found = mined([["a", "b"]], Mining(hard=2, easy=3))
    assert found[:2] == ("a", "b")
    assert len(found) == 5
    assert set(found[2:]) <= set(PASSAGES)


def test_there_are_fewer_where_there_are_no_more():
    assert mined([["a"]], Mining(hard=3, easy=3), others=["a", PASSAGES[0]]) == ("a",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hard": 0, "easy": 0}, "0 hard and 0 easy"),
        ({"hard": -1}, "-1 hard"),
        ({"depth": 0}, "depth 0"),
        ({"alike": 0}, "not 0"),
        ({"alike": float("nan")}, "not nan"),
    ],
)
def test_settings_that_mine_nothing_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Mining(**settings)
