from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.significance.wilson import wilson_interval


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_the_mean_lies_inside_and_the_bounds_inside_0_and_1(mean: float, n: int) -> None:
    low, high = wilson_interval(mean, n)
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1


def test_more_values_narrow_it() -> None:
    widths = [high - low for low, high in (wilson_interval(0.7, n) for n in (5, 50, 500))]
    assert widths == sorted(widths, reverse=True)


def test_of_none_wrong_it_is_not_certain() -> None:
    assert wilson_interval(1.0, 10) == pytest.approx((10 / (10 + 1.959963984540054**2), 1.0))


@pytest.mark.parametrize(("mean", "n"), [(0.5, 0), (1.2, 4), (-0.1, 4), (float("nan"), 4)])
def test_what_is_no_share_is_refused(mean: float, n: int) -> None:
    with pytest.raises(ValueError, match="expected one in"):
        wilson_interval(mean, n)
