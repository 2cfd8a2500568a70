from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.calibration.equal_mass import equal_mass_bins, equal_mass_calibration_error

FORECASTS = st.lists(st.tuples(st.integers(0, 5).map(lambda i: i / 5), st.integers(0, 1)), min_size=1)


def test_bins_by_hand() -> None:
    bins = equal_mass_bins([0.9, 0.1, 0.8, 0.3, 0.2, 0.7], [1, 0, 1, 1, 0, 0], 3)
    assert [(one.low, one.high, one.count) for one in bins] == [(0.1, 0.2, 2), (0.3, 0.7, 2), (0.8, 0.9, 2)]
    assert [one.accuracy for one in bins] == [0, 0.5, 1]


def test_more_bins_than_forecasts_leave_none_empty() -> None:
    assert [one.count for one in equal_mass_bins([0.5, 0.6], [1, 0], 15)] == [1, 1]


@given(FORECASTS, st.integers(1, 20), st.randoms(use_true_random=False))
def test_counts_are_even_and_order_does_not_matter(
    forecasts: list[tuple[float, int]], n_bins: int, random: object
) -> None:
    bins = equal_mass_bins(*zip(*forecasts, strict=True), n_bins)
    counts = [one.count for one in bins]
    assert sum(counts) == len(forecasts)
    assert max(counts) - min(counts) <= 1
    shuffled = forecasts.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert equal_mass_bins(*zip(*shuffled, strict=True), n_bins) == bins


@given(FORECASTS)
def test_one_bin_is_the_gap_of_the_means(forecasts: list[tuple[float, int]]) -> None:
    confidences, right = zip(*forecasts, strict=True)
    gap = abs(sum(right) - sum(confidences)) / len(forecasts)
    assert equal_mass_calibration_error(confidences, right, 1) == pytest.approx(gap)


def test_no_bin_is_refused() -> None:
    with pytest.raises(ValueError, match="n_bins is 0"):
        equal_mass_bins([0.5], [1], 0)
