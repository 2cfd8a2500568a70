"""The promise of a threshold: bounds by hand, the walk by hand, and the share of broken promises."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.calibration.risk_control import (
    Answered,
    clopper_pearson_upper,
    controlled,
    least_answers,
    thresholds_by_percent,
    thresholds_to_test,
)
from spanwise.eval.calibration.risk_control_check import check_by_halves


@pytest.mark.parametrize(
    ("errors", "n", "delta", "upper"),
    [
        (0, 1, 0.1, 0.9),
        (0, 22, 0.1, 1 - 0.1 ** (1 / 22)),
        (1, 2, 0.1, math.sqrt(0.9)),  # 1 - p² = 0.1
        (3, 3, 0.1, 1.0),
        (5, 100, 0.05, 0.102253),  # tables of the one-sided 95 % limit
    ],
)
def test_the_bound_by_hand(errors: int, n: int, delta: float, upper: float) -> None:
    assert clopper_pearson_upper(errors, n, delta) == pytest.approx(upper, abs=1e-6)


@given(st.integers(1, 60), st.data())
def test_the_bound_lies_above_the_rate_and_falls_with_more_trials(n: int, data: st.DataObject) -> None:
    errors = data.draw(st.integers(0, n - 1))
    bound = clopper_pearson_upper(errors, n)
    assert errors / n < bound <= clopper_pearson_upper(errors + 1, n)
    assert clopper_pearson_upper(errors, n + 1) < bound


def test_the_walk_stops_at_the_first_bound_above_the_target() -> None:
    """A hundred right, then a hundred wrong, then a thousand right: what lies below is never reached."""
    right = [1] * 100 + [0] * 100 + [1] * 1000
    confidences = [1 - i / 2000 for i in range(len(right))]
    found = controlled(thresholds_to_test(confidences, right), 0.1)
    assert found is not None
    assert 100 <= found.answered < 115
    assert clopper_pearson_upper(found.errors, found.answered) <= 0.1


@given(st.integers(1, 200), st.data(), st.sampled_from([0.05, 0.1, 0.3]))
def test_passing_is_a_bound_below_the_target(n: int, data: st.DataObject, target: float) -> None:
    errors = data.draw(st.integers(0, n))
    assert Answered(0.5, n, errors).passes(target) == (clopper_pearson_upper(errors, n) <= target)


def test_a_target_that_a_few_answers_cannot_show_is_not_met() -> None:
    assert controlled(thresholds_to_test([0.9] * 20, [1] * 20), 0.1) is None
    assert least_answers(0.1) == 65  # with 3 errors the bound is 0.0998, with 3 in 64 it is above 0.1


def test_looser_targets_give_lower_thresholds() -> None:
    rng = random.Random(1)
    confidences, right = drawn(rng, 600)
    found = thresholds_by_percent(confidences, right)
    assert 30 in found
    assert 1 not in found
    assert sorted(found.values(), reverse=True) == list(found.values())


def drawn(rng: random.Random, n: int) -> tuple[list[float], list[int]]:
    """Confidences spread evenly, which are what they say: P(right | c) = c."""
    confidences = [rng.random() for _ in range(n)]
    return confidences, [int(rng.random() < c) for c in confidences]


@pytest.mark.parametrize("target", [0.1, 0.2, 0.35])
def test_promises_are_broken_no_more_often_than_stated(target: float) -> None:
    """The true error at threshold t is (1 - t) / 2; of 200 draws a tenth may break the promise.

    Where each does so with probability 0.1, there are 27 at most in 95 of 100 such tests.
    """
    rng, broken, met = random.Random(7), 0, 0
    for _ in range(200):
        found = controlled(thresholds_to_test(*drawn(rng, 600)), target)
        met += found is not None
        broken += found is not None and (1 - found.threshold) / 2 > target
    assert met > 80
    assert broken <= 27


def test_over_confident_answers_do_not_break_the_promise() -> None:
    """The order is all that counts: everything says 0.9 and more, half of it is right."""
    rng, broken = random.Random(3), 0
    for _ in range(200):
        confidences, right = drawn(rng, 300)
        found = controlled(thresholds_to_test([0.9 + c / 10 for c in confidences], right), 0.25)
        broken += found is not None and (1 - (found.threshold - 0.9) * 10) / 2 > 0.25
    assert broken <= 20


def test_halves_tell_error_and_coverage() -> None:
    confidences, right = drawn(random.Random(5), 1000)
    held = check_by_halves(confidences, right, 0.2, splits=40)
    assert held.error is not None
    assert held.error < 0.2
    assert 0.2 < held.coverage < 0.5
    assert held.above < 0.5
    assert check_by_halves(confidences, right, 0.2, splits=40) == held


def test_a_promise_that_cannot_be_made_declines_everything() -> None:
    held = check_by_halves([0.5] * 40, [0] * 40, 0.1, splits=10)
    assert (held.met, held.above, held.error, held.coverage) == (0, 0, None, 0)


@pytest.mark.parametrize("target", [0.0, 1.0, -1.0, math.nan])
def test_an_impossible_target_is_refused(target: float) -> None:
    with pytest.raises(ValueError, match="expected a share"):
        controlled(thresholds_to_test([0.5], [1]), target)


def test_impossible_counts_and_deltas_are_refused() -> None:
    with pytest.raises(ValueError, match="3 errors in 2 trials"):
        clopper_pearson_upper(3, 2)
    with pytest.raises(ValueError, match="delta is 1"):
        clopper_pearson_upper(0, 2, 1)
    with pytest.raises(ValueError, match="1 questions in 200 splits"):
        check_by_halves([0.5], [1], 0.1)
