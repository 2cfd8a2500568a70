"""Fitting confidence, choosing thresholds, and the figures of confidences."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from spanwise.eval.calibration import (
    aurc,
    expected_calibration_error,
    fit_listwise,
    fit_logistic,
    threshold_at,
)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=40)
def test_the_gradient_of_the_logistic_loss_vanishes_at_the_optimum(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(scale=5.0, size=(30, d))
    y = np.append(rng.integers(0, 2, size=28), [0, 1])
    model = fit_logistic(x, y)
    residual = 1 / (1 + np.exp(-(x @ model.weights + model.bias))) - y
    assert residual.sum() == pytest.approx(0, abs=1e-6)
    assert x.T @ residual + np.asarray(model.weights) == pytest.approx(np.zeros(d), abs=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([[1.0], [math.nan]], [0, 1], "NaN"),
        ([[1.0], [2.0]], [0, 1, 1], "inconsistent numbers of samples"),
        ([[1.0], [2.0]], [1, 1], "2 classes"),
    ],
)
def test_wrong_arguments_are_refused(x: list[list[float]], y: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_logistic(x, y)


def test_listwise_weights_of_two_lists_equal_those_by_hand() -> None:
    """The right row is 1 above the other in two lists and 1 below in one: w = ln 2 without ridge."""
    lists = [np.array([[1.0], [0.0]])] * 3
    right = [np.array([True, False]), np.array([True, False]), np.array([False, True])]
    assert fit_listwise(lists, right, l2=0.0) == pytest.approx([np.log(2)])


def test_lists_without_a_right_row_change_nothing() -> None:
    lists = [np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), np.array([[5.0], [1.0]])]
    right = [np.array([True, False]), np.array([True, False]), np.array([False, False])]
    assert fit_listwise(lists, right) == pytest.approx(fit_listwise(lists[:2], right[:2]))


@given(st.lists(st.floats(0, 1), max_size=30), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_a_threshold_lets_at_most_its_share_through_and_is_the_lowest(
    absent: list[float], share: float
) -> None:
    threshold = threshold_at(absent, share)
    assert sum(value >= threshold for value in absent) <= share * len(absent)
    below = math.nextafter(threshold, -math.inf)
    assert threshold == 0 or sum(value >= below for value in absent) > int(share * len(absent))


def test_calibration_error_with_bins_of_equal_mass_equals_that_by_hand() -> None:
    """Two bins of two: |0.5 - 0.15| and |1 - 0.45|, where bins of equal width would be one."""
    error = expected_calibration_error([0.1, 0.2, 0.4, 0.5], [0, 1, 1, 1], 2)
    assert error == pytest.approx((0.35 + 0.55) / 2)


def test_aurc_is_the_mean_over_all_orders_of_ties() -> None:
    assert aurc([0.5, 0.5], [1, 0]) == pytest.approx((0.5 + 0.5) / 2)  # risks (0 or 1, 1/2)
    assert aurc([0.9, 0.1], [1, 0]) == pytest.approx((0 + 0.5) / 2)


@pytest.mark.parametrize(
    ("sure", "right", "message"),
    [
        ([], [], "0 confidences"),
        ([0.5], [], "1 confidences for 0"),
        ([math.nan], [1], "nan"),
        ([0.5], [2], "2"),
    ],
)
def test_confidences_and_outcomes_outside_0_to_1_are_refused(
    sure: list[float], right: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        aurc(sure, right)
