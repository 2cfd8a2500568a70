"""A series in one line: as many bars as fit, the highest for the greatest value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.report.sparkline import BARS, sparkline


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.integers(1, 60))
def test_it_is_as_wide_as_it_may_be(values, width):
    line = sparkline(values, width)
    assert len(line) == min(width, len(values))
    assert set(line) <= set(BARS)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=40, unique=True))
def test_the_greatest_is_the_highest_and_the_least_the_lowest(values):
    line = sparkline(values)
    assert line[values.index(max(values))] == "█"
    assert line[values.index(min(values))] == "▁"
