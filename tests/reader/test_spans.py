"""Decoding: golden spans, the cap, and an oracle that tries every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spanwise.reader.spans import best_spans, distinct_spans, n_legal_spans, span_scores

START, END = np.array([1, 5, 2, 0.0]), np.array([4, 1, 3, 2.0])


def every_span(start, end, cap):
    pairs = [(i, j) for i in range(len(start)) for j in range(i, min(len(start), i + cap))]
    return sorted(
        ((float(start[i]) + float(end[j]), i, j) for i, j in pairs), key=lambda s: (-s[0], s[1], s[2])
    )


def test_r6_joint_argmax_never_reverses():
    assert [(s.first, s.last, s.score) for s in best_spans(START, END, 3)] == [
        (1, 2, 8),
        (1, 3, 7),
        (1, 1, 6),
    ]


def test_r6_cap_of_one_token():
    assert [(s.first, s.last, s.score) for s in best_spans(START, END, 1, max_tokens=1)] == [(1, 1, 6)]


def test_r8_probabilities():
    def softmax(x):
        return np.exp(x - x.max()) / np.exp(x - x.max()).sum()

    p_start, p_end = softmax(START), softmax(END)
    assert p_start == pytest.approx([0.017040, 0.930370, 0.046320, 0.006269], abs=1e-6)
    assert p_start[1] * p_end[2] == pytest.approx(0.220389, abs=1e-6)
    legal = span_scores(START, END, 4)
    assert np.exp(8) / np.exp(legal[np.isfinite(legal)]).sum() == pytest.approx(0.605651, abs=1e-6)


@pytest.mark.parametrize(("n", "cap", "count"), [(384, 30, 11085), (384, 384, 73920), (8, 3, 21), (7, 7, 28)])
def test_r9_number_of_legal_spans(n, cap, count):
    assert n_legal_spans(n, cap) == count
    assert int(np.isfinite(span_scores(np.zeros(n), np.zeros(n), cap)).sum()) == count


@pytest.mark.parametrize(("cap", "last", "score"), [(30, 32, 9), (31, 33, 10)])
def test_r10_the_cap_counts_both_ends(cap, last, score):
    start, end = np.zeros(40), np.zeros(40)
    start[3], end[33], end[32] = 5, 5, 4
    best = best_spans(start, end, 1, cap)[0]
    assert (best.first, best.last, best.score) == (3, last, score)


@given(
    arrays.arrays(np.float32, 12, elements=st.integers(-4, 4).map(float)),
    arrays.arrays(np.float32, 12, elements=st.integers(-4, 4).map(float)),
    st.integers(1, 20),
    st.integers(1, 15),
)
def test_equals_trying_every_span_ties_included(start, end, n_best, cap):
    found = [(s.score, s.first, s.last) for s in best_spans(start, end, n_best, cap)]
    assert found == every_span(start, end, cap)[:n_best]


def test_no_tokens_give_no_span():
    assert best_spans(np.zeros(0), np.zeros(0), 5) == []


@given(
    arrays.arrays(np.float32, 12, elements=st.integers(-4, 4).map(float)),
    arrays.arrays(np.float32, 12, elements=st.integers(-4, 4).map(float)),
    st.integers(1, 20),
    st.integers(1, 15),
)
def test_distinct_spans_are_the_greedy_choice_without_overlap(start, end, n_best, cap):
    expected: list[tuple[float, int, int]] = []
    for score, first, last in every_span(start, end, cap):
        if len(expected) < n_best and all(last < i or j < first for _, i, j in expected):
            expected.append((score, first, last))
    assert [(s.score, s.first, s.last) for s in distinct_spans(start, end, n_best, cap)] == expected
