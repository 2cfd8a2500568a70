"""Where an answer begins: one softmax over the passage and no answer, windows merged by context."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.token_probabilities import softmax, token_scores
from spanwise.reader.windows import Window, WindowLogits


def window(first: int, start: list[float], null: tuple[float, float] = (0.0, 0.0)) -> WindowLogits:
    logits = np.array(start, np.float32)
    return WindowLogits(Window(0, first, first + len(start)), logits, -logits, *null)


def places(n: int) -> np.ndarray:
    return np.array([[i, i + 1] for i in range(n)], np.int32).reshape(-1, 2)


def test_r11_over_the_passage_and_with_no_answer():
    logits = np.array([0, 0, 4.0, 0, 0, 0, 0])
    assert softmax(logits)[0][2] == pytest.approx(0.900987, abs=1e-6)
    tokens, null = softmax(logits, null=0.0)
    assert (tokens[2], null) == (
        pytest.approx(0.886360, abs=1e-6),
        pytest.approx(0.886360 / np.exp(4), abs=1e-6),
    )


def test_a_reader_without_a_null_answer_gives_all_to_the_tokens():
    seen = token_scores(places(3), [window(0, [1.0, 2.0, 3.0], (9.0, 9.0))], answers_null=False)
    assert (seen.start.sum(), seen.null_start, seen.null_end) == (pytest.approx(1), 0.0, 0.0)


def test_a_token_in_two_windows_counts_where_it_has_most_context():
    first, second = window(0, [0, 1, 2, 3, 4.0]), window(2, [50, 60, 70, 80, 90.0])
    seen = token_scores(places(7), [first, second], answers_null=False)
    expected = softmax(np.array([0, 1, 2, 3, 70, 80, 90.0]))[0]  # of equals the first window's
    np.testing.assert_allclose(seen.start, expected)


def test_no_answer_is_that_of_the_window_where_it_scores_least():
    one, other = window(0, [0.0, 0.0, 0.0], (3.0, 3.0)), window(1, [0.0, 0.0, 0.0], (1.0, 2.0))
    seen = token_scores(places(4), [one, other], answers_null=True)
    assert seen.null_start == pytest.approx(np.e / (np.e + 4))


@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=12), st.floats(-50, 50))
def test_probabilities_add_up_to_one(logits, null):
    seen = token_scores(places(len(logits)), [window(0, logits, (null, null))], answers_null=True)
    assert seen.start.sum() + seen.null_start == pytest.approx(1)
    assert seen.end.sum() + seen.null_end == pytest.approx(1)


def test_a_passage_without_tokens_has_none():
    assert len(token_scores(places(0), [], answers_null=True).start) == 0
