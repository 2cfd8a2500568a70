from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.calibration.brier import brier_parts, brier_score
from spanwise.eval.calibration.calibration_error import (
    expected_calibration_error,
    maximum_calibration_error,
    reliability_bins,
)
from spanwise.eval.calibration.log_loss import log_loss

CONFIDENCES = [0.95] * 4 + [0.65] * 4 + [0.25] * 2
RIGHT = [1, 1, 1, 0, 1, 1, 0, 0, 0, 1]
MEASURES = [brier_score, brier_parts, expected_calibration_error, maximum_calibration_error, log_loss]
confidence = st.floats(0, 1) | st.integers(0, 10).map(lambda i: i / 10)
forecasts = st.lists(st.tuples(confidence, st.booleans()), min_size=1)


def test_e15_nine_of_ten_at_nine_tenths_is_calibrated() -> None:
    assert expected_calibration_error([0.9] * 10, [1] * 9 + [0]) == pytest.approx(0, abs=1e-12)
    assert expected_calibration_error([0.9] * 10, [1] * 5 + [0] * 5) == pytest.approx(0.4)


def test_e16_three_bins_by_hand() -> None:
    assert expected_calibration_error(CONFIDENCES, RIGHT) == pytest.approx(0.19)
    assert maximum_calibration_error(CONFIDENCES, RIGHT) == pytest.approx(0.25)
    assert brier_score(CONFIDENCES, RIGHT) == pytest.approx(0.2625)


def test_e16_certainty_falls_into_the_last_bin() -> None:
    assert [one.count for one in reliability_bins([1.0, 0.9, 0.0], [1, 1, 0])] == [1, *[0] * 8, 2]


def test_e17_pooling_hides_a_group() -> None:
    first, second = [1] * 7 + [0] * 3, [1] * 5 + [0] * 5
    assert expected_calibration_error([0.7] * 10, first) == pytest.approx(0, abs=1e-12)
    assert expected_calibration_error([0.7] * 10, second) == pytest.approx(0.2)
    assert expected_calibration_error([0.7] * 20, first + second) == pytest.approx(0.1)


@pytest.mark.parametrize("n_bins", [1, 3, 7, 10, 49, 100])
def test_a_confidence_on_an_edge_belongs_to_the_bin_above(n_bins: int) -> None:
    bins = reliability_bins([k / n_bins for k in range(n_bins)], [1] * n_bins, n_bins)
    assert [one.count for one in bins] == [1] * n_bins


def test_an_empty_bin_has_no_accuracy_and_no_gap() -> None:
    empty = reliability_bins([0.95], [1])[0]
    assert (empty.count, empty.confidence, empty.accuracy, empty.gap) == (0, None, None, 0.0)


@given(forecasts, st.integers(1, 20))
def test_ece_equals_a_histogram_in_numpy(found: list[tuple[float, bool]], n_bins: int) -> None:
    p, o = (np.asarray(column, dtype=np.float64) for column in zip(*found, strict=True))
    which = np.digitize(p, np.arange(1, n_bins) / n_bins)
    gaps = np.bincount(which, weights=o - p, minlength=n_bins)
    assert expected_calibration_error(p.tolist(), o.tolist(), n_bins) == pytest.approx(
        np.abs(gaps).sum() / len(p)
    )


@given(forecasts, st.randoms(use_true_random=False))
def test_no_measure_depends_on_the_order(found: list[tuple[float, bool]], order: random.Random) -> None:
    shuffled = order.sample(found, len(found))
    for measure in MEASURES:
        assert measure(*zip(*found, strict=True)) == measure(*zip(*shuffled, strict=True))


@given(forecasts)
def test_the_parts_of_brier_make_the_whole(found: list[tuple[float, bool]]) -> None:
    confidences, right = zip(*found, strict=True)
    parts = brier_parts(confidences, right)
    whole = parts.reliability - parts.resolution + parts.uncertainty
    assert whole == pytest.approx(brier_score(confidences, right), abs=1e-12)


def test_log_loss_by_hand() -> None:
    assert log_loss([0.5, 0.5], [0, 1]) == pytest.approx(math.log(2))
    assert log_loss([1.0, 0.0], [1, 0]) == 0
    assert log_loss([0.9, 1.0], [1, 0]) == math.inf


def test_e20_log_loss_of_two_logits() -> None:
    p = 1 / (1 + math.exp(-0.5 - 2.1))
    assert log_loss([p], [1]) == pytest.approx(0.071645, abs=5e-7)
    assert log_loss([0.9], [1]) == pytest.approx(0.105361, abs=5e-7)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("confidences", "right", "message"),
    [
        ([], [], "no forecasts"),
        ([0.5], [1, 0], "1 confidences for 2 outcomes"),
        ([0.5, math.nan], [1, 0], "confidence 1 is nan"),
        ([1.0000001], [1], r"confidence 0 is 1\.0000001"),
        ([-0.1], [1], r"confidence 0 is -0\.1"),
        ([math.inf], [1], "confidence 0 is inf"),
        ([0.5], [0.5], r"outcome 0 is 0\.5; expected 0 or 1"),
        ([0.5], [math.nan], "outcome 0 is nan"),
    ],
)
def test_what_is_no_forecast_is_refused(measure, confidences, right, message) -> None:
    with pytest.raises(ValueError, match=message):
        measure(confidences, right)


def test_no_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="n_bins is 0"):
        reliability_bins([0.5], [1], n_bins=0)
