from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.report.axis import Scale, log_ticks, number, ticks


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_ticks_hold_what_they_are_for(a: float, b: float) -> None:
    low, high = sorted((a, b))
    found = ticks(low, high)
    assert found[0] <= low + 1e-6 * max(1, high)
    assert found[-1] >= high * (1 - 1e-6)
    assert 2 <= len(found) <= 6
    assert found == sorted(set(found))


@given(st.floats(1e-3, 1e6), st.floats(1, 1e6))
def test_logarithmic_ticks_hold_what_they_are_for(low: float, times: float) -> None:
    found = log_ticks(low, low * times)
    assert found[0] <= low <= low * times <= found[-1]
    assert found == sorted(set(found))


def test_logarithms_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 0 < low"):
        log_ticks(0, 5)


@given(st.floats(-10, 20))
def test_a_value_outside_of_the_axis_stands_at_its_end(value: float) -> None:
    assert 100 <= Scale(0, 10, 100, 200)(value) <= 200


def test_an_axis_of_one_value_puts_it_into_the_middle() -> None:
    assert Scale(3, 3, 0, 10)(3) == 5


@given(st.floats(-1e12, 1e12))
def test_printed_numbers_are_plain(value: float) -> None:
    assert "e" not in number(value)
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=0.01, abs=1e-3)
