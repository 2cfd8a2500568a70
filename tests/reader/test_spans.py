"""Spans against an oracle that tries every pair; tokens and sentences of several windows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spanwise.reader.spans import (
    SentenceScores,
    TokenSpan,
    Window,
    WindowLogits,
    distinct_spans,
    span_scores,
    spans_of_windows,
)

START, END = np.array([1, 5, 2, 0.0]), np.array([4, 1, 3, 2.0])
LOGITS = arrays.arrays(np.float32, 12, elements=st.integers(-4, 4).map(float))


def window(first: int, start: list[float], null: tuple[float, float] = (0.0, 0.0)) -> WindowLogits:
    logits = np.array(start, np.float32)
    return WindowLogits(Window(0, first, first + len(start)), logits, -logits, *null)


def test_r6_the_joint_argmax_never_reverses():
    [best, *_] = distinct_spans(START, END, 3)
    assert (best.first, best.last, best.score) == (1, 2, 8)
    [best] = distinct_spans(START, END, 1, max_tokens=1)
    assert (best.first, best.last, best.score) == (1, 1, 6)
    assert distinct_spans(np.zeros(0), np.zeros(0), 5) == []


def test_r8_probabilities():
    p_start, p_end = (np.exp(one) / np.exp(one).sum() for one in (START, END))
    assert p_start == pytest.approx([0.017040, 0.930370, 0.046320, 0.006269], abs=1e-6)
    assert p_start[1] * p_end[2] == pytest.approx(0.220389, abs=1e-6)
    legal = span_scores(START, END, 4)
    assert np.exp(8) / np.exp(legal[np.isfinite(legal)]).sum() == pytest.approx(0.605651, abs=1e-6)


@pytest.mark.parametrize(("n", "cap", "count"), [(384, 30, 11085), (384, 384, 73920), (8, 3, 21), (7, 7, 28)])
def test_r9_number_of_legal_spans(n, cap, count):
    assert int(np.isfinite(span_scores(np.zeros(n), np.zeros(n), cap)).sum()) == count


@pytest.mark.parametrize(("cap", "last", "score"), [(30, 32, 9), (31, 33, 10)])
def test_r10_the_cap_counts_both_ends(cap, last, score):
    start, end = np.zeros(40), np.zeros(40)
    start[3], end[33], end[32] = 5, 5, 4
    [best] = distinct_spans(start, end, 1, cap)
    assert (best.first, best.last, best.score) == (3, last, score)


@given(LOGITS, LOGITS, st.integers(1, 20), st.integers(1, 15))
def test_spans_are_the_greedy_choice_without_overlap_of_all_pairs(start, end, n_best, cap):
    pairs = [(i, j) for i in range(len(start)) for j in range(i, min(len(start), i + cap))]
    every = [(float(start[i]) + float(end[j]), i, j) for i, j in pairs]
    expected: list[tuple[float, int, int]] = []
    for score, first, last in sorted(every, key=lambda s: (-s[0], s[1], s[2])):
        if len(expected) < n_best and all(last < i or j < first for _, i, j in expected):
            expected.append((score, first, last))
    assert [(s.score, s.first, s.last) for s in distinct_spans(start, end, n_best, cap)] == expected


def test_spans_of_overlapping_windows_share_no_token():
    found = spans_of_windows([window(0, [0, 5, 0, 0]), window(1, [5, 0, 0, 9])], 8)
    tokens = [token for span in found for token in range(span.first, span.last + 1)]
    assert len(tokens) == len(set(tokens))


def test_of_several_windows_the_fullest_scores_a_sentence():
    offsets = np.array([(i, i + 1) for i in range(8)], np.int32)
    logits = [np.full(6, 1.0, np.float32), np.full(4, 5.0, np.float32)]
    both = [Window(0, 0, 6), Window(0, 4, 8)]
    windows = [WindowLogits(w, one, one, 0.0, 0.0, one) for w, one in zip(both, logits, strict=True)]
    scores = SentenceScores([(0, 3), (3, 8)], offsets, windows)
    assert scores.of(TokenSpan(1, 2, 0.0)) == 1.0
    assert scores.of(TokenSpan(5, 5, 0.0)) == 5.0  # of its five tokens the second window holds four
    assert scores.of(TokenSpan(2, 3, 0.0)) == 1.0  # both sentences: six tokens in the first window
