"""Maximal marginal relevance: its ends, its ties, and an independent search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spanwise.reader.summary.mmr import mmr

LEVEL = st.integers(0, 8).map(lambda level: level / 8)  # exact in binary, so that ties are ties


@st.composite
def candidates(draw):
    n = draw(st.integers(0, 7))
    return draw(arrays(float, n, elements=LEVEL)), draw(arrays(float, (n, n), elements=LEVEL))


def search(scores, similarity, trade, k):
    """The definition, candidate by candidate."""
    chosen: list[int] = []
    for _ in range(min(k, len(scores))):
        worth = {
            i: trade * scores[i] - (1 - trade) * max((similarity[j][i] for j in chosen), default=0)
            for i in range(len(scores))
            if i not in chosen
        }
        chosen.append(max(worth, key=lambda i: (round(worth[i], 12), -i)))
    return chosen


@given(candidates(), LEVEL, st.integers(0, 9))
def test_it_is_the_definition(given, trade, k):
    assert mmr(*given, trade, k) == search(*given, trade, k)


@given(candidates(), st.integers(0, 9))
def test_a_trade_of_one_is_the_ranking(given, k):
    assert mmr(*given, 1, k) == sorted(range(len(given[0])), key=lambda i: -given[0][i])[:k]


@given(candidates(), LEVEL, st.integers(0, 8))
def test_fewer_are_the_first_of_more(given, trade, k):
    assert mmr(*given, trade, k) == mmr(*given, trade, k + 1)[:k]


def test_equal_scores_go_by_place():
    assert mmr([0.5, 0.5 + 1e-15, 0.5], np.zeros((3, 3)), 0.5, 3) == [0, 1, 2]


def test_one_that_is_refused_is_not_taken_for_said():
    similarity = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert mmr([0.9, 0.8, 0.3], similarity, 0.5, 1, lambda one, chosen: one != 0) == [1]


def test_each_is_asked_about_once_with_those_chosen():
    asked: list[tuple[int, list[int]]] = []
    mmr(
        [0.1, 0.3, 0.2], np.eye(3), 1, 3, lambda one, chosen: bool(asked.append((one, [*chosen]))) or one != 2
    )
    assert asked == [(1, []), (2, [1]), (0, [1])]


@pytest.mark.parametrize(
    ("scores", "similarity", "trade", "k"),
    [
        ([1.0], np.eye(2), 0.5, 1),
        ([1.0, 2.0], np.ones((2, 3)), 0.5, 1),
        ([math.nan], [[1.0]], 0.5, 1),
        ([1.0], [[math.inf]], 0.5, 1),
        ([1.0], [[1.0]], 1.5, 1),
        ([1.0], [[1.0]], math.nan, 1),
        ([1.0], [[1.0]], 0.5, -1),
    ],
)
def test_what_does_not_fit_is_refused(scores, similarity, trade, k):
    with pytest.raises(ValueError, match=r"expected|finite"):
        mmr(scores, similarity, trade, k)
