from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.eval.calibration.platt import LogisticModel, fit_logistic

QUARTERS = ([[0.0]] * 4 + [[1.0]] * 4, [1, 0, 0, 0, 1, 1, 1, 0])


def test_one_binary_feature_by_hand() -> None:
    model = fit_logistic(*QUARTERS, l2=0.0)  # 1 of 4 right at x = 0, 3 of 4 at x = 1
    assert model.bias == pytest.approx(-math.log(3), abs=1e-9)
    assert model.weights == pytest.approx((2 * math.log(3),), abs=1e-9)
    assert model.probability([[0.0], [1.0]]) == pytest.approx([0.25, 0.75], abs=1e-9)


def test_penalised_pair_by_hand() -> None:
    # x = ±1 with labels 1 and 0: bias 0 and 2 (sigmoid(w) - 1) + l2 w = 0, so w = ln 3 at l2 = 1 / (2 ln 3)
    model = fit_logistic([[-1.0], [1.0]], [0, 1], l2=1 / (2 * math.log(3)))
    assert model.weights == pytest.approx((math.log(3),), abs=1e-9)
    assert model.bias == pytest.approx(0, abs=1e-9)


def test_bias_is_not_penalised() -> None:
    model = fit_logistic(np.zeros((4, 1)), [1, 1, 1, 0], l2=1e6)
    assert model.bias == pytest.approx(math.log(3), abs=1e-9)


def test_no_features_give_the_base_rate() -> None:
    model = fit_logistic(np.zeros((4, 0)), [1, 0, 0, 0])
    assert model.probability(np.zeros((2, 0))) == pytest.approx([0.25, 0.25])


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from([0.01, 1.0, 100.0]))
@settings(max_examples=40)
def test_gradient_vanishes_at_the_optimum(seed: int, d: int, l2: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(scale=5.0, size=(30, d))
    y = np.append(rng.integers(0, 2, size=28), [0, 1])
    model = fit_logistic(x, y, l2)
    residual = model.probability(x) - y
    assert residual.sum() == pytest.approx(0, abs=1e-6)
    assert x.T @ residual + l2 * np.asarray(model.weights) == pytest.approx(np.zeros(d), abs=1e-6)


def test_separable_features_have_a_finite_fit_with_a_penalty() -> None:
    x = np.asarray([[-200.0], [-100.0], [100.0], [200.0]])
    p = fit_logistic(x, [0, 0, 1, 1], l2=1e-3).probability(x)
    assert p[0] < p[1] < 0.01 < 0.99 < p[2] <= p[3] <= 1


@pytest.mark.parametrize(
    ("x", "y"),
    [([[-1.0], [1.0]], [0, 1]), ([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [0, 1, 0]), ([[0.0], [0.0]], [0, 1])],
    ids=["separable", "collinear", "constant"],
)
def test_without_penalty_no_finite_optimum_is_an_error(x: list[list[float]], y: list[int]) -> None:
    with pytest.raises(ValueError, match="use l2 > 0"):
        fit_logistic(x, y, l2=0.0)


def test_probability_of_extreme_scores_does_not_overflow() -> None:
    assert LogisticModel((1.0,), 0.0).probability([[-1e6], [1e6]]) == pytest.approx([0, 1])


@pytest.mark.parametrize(
    ("x", "y", "l2", "message"),
    [
        ([1.0, 2.0], [0, 1], 1.0, r"shape \(2,\)"),
        ([[1.0], [math.nan]], [0, 1], 1.0, "NaN or infinity"),
        ([[1.0], [2.0]], [0, 1, 1], 1.0, r"labels have shape \(3,\)"),
        ([[1.0], [2.0]], [0, 2], 1.0, "labels must be 0 or 1"),
        ([[1.0], [2.0]], [1, 1], 1.0, "both must occur"),
        ([[1.0], [2.0]], [0, 1], -1.0, r"l2 is -1\.0"),
        ([[1.0], [2.0]], [0, 1], math.nan, "l2 is nan"),
    ],
)
def test_wrong_arguments_are_refused(x: list[float], y: list[int], l2: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_logistic(x, y, l2)


def test_model_refuses_features_of_another_width() -> None:
    with pytest.raises(ValueError, match="2 wide; expected 1"):
        LogisticModel((1.0,), 0.0).probability([[1.0, 2.0]])
