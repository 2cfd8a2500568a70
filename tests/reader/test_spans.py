"""Spans against an oracle that tries every pair; tokens and sentences of several windows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spanwise.reader.spans import (
    SentenceScores,
    TokenSpan,
    Window,
    WindowLogits,
    distinct_spans,
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


@given(LOGITS, LOGITS, st.integers(1, 20), st.integers(1, 15))
def test_spans_are_the_greedy_choice_without_overlap_of_all_pairs(start, end, n_best, cap):
    pairs = [(i, j) for i in range(len(start)) for j in range(i, min(len(start), i + cap))]
    every = [(float(start[i]) + float(end[j]), i, j) for i, j in pairs]
    expected: list[tuple[float, int, int]] = []
    for score, first, last in sorted(every, key=lambda s: (-s[0], s[1], s[2])):
        if len(expected) < n_best and all(last < i or j < first for _, i, j in expected):
            expected.append((score, first, last))
    assert [(s.score, s.first, s.last) for s in distinct_spans(start, end, n_best, cap)] == expected


def test_of_several_windows_the_fullest_scores_a_sentence():
    offsets = np.array([(i, i + 1) for i in range(8)], np.int32)
    logits = [np.full(6, 1.0, np.float32), np.full(4, 5.0, np.float32)]
    both = [Window(0, 0, 6), Window(0, 4, 8)]
    windows = [WindowLogits(w, one, one, 0.0, 0.0, one) for w, one in zip(both, logits, strict=True)]
    scores = SentenceScores([(0, 3), (3, 8)], offsets, windows)
    assert scores.of(TokenSpan(1, 2, 0.0)) == 1.0
    assert scores.of(TokenSpan(5, 5, 0.0)) == 5.0  # of its five tokens the second window holds four
    assert scores.of(TokenSpan(2, 3, 0.0)) == 1.0  # both sentences: six tokens in the first window
