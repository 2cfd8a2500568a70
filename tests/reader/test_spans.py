"""Spans against an oracle that tries every pair; tokens and sentences of several windows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spanwise.reader.spans import (
    distinct_spans,
)

START, END = np.array([1, 5, 2, 0.0]), np.array([4, 1, 3, 2.0])
LOGITS = arrays.arrays(np.float32, 12, elements=st.integers(-4, 4).map(float))


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
