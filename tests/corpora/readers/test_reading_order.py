"""What was drawn too early goes below what stands above it; columns and formulas stay as they were drawn."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.readers.pdf_pages import Line
from spanwise.corpora.readers.reading_order import MAX_LINES, in_reading_order


def ordered(*places: tuple[str, float, float, float]) -> str:
    return " ".join(line.text for line in in_reading_order([Line(*place) for place in places]))


def column(names: str, top: float, left: float = 0.0) -> list[tuple[str, float, float, float]]:
    return [(name, top - 14 * i, left, left + 200) for i, name in enumerate(names)]


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ([*column("xy", 90), *column("abc", 700)], "a b c x y"),  # footnotes first
        ([*column("abc", 600), *column("h", 700)], "h a b c"),  # a heading last
        ([*column("h", 760), *column("xy", 90), *column("abc", 700)], "h a b c x y"),
        ([*column("xy", 90), *column("cd", 500), *column("ab", 700)], "a b c d x y"),
        ([*column("abc", 700), *column("xy", 90)], "a b c x y"),
    ],
)
def test_parts_in_the_wrong_order_change_places(
    drawn: list[tuple[str, float, float, float]], expected: str
) -> None:
    assert ordered(*drawn) == expected


def test_columns_stay_in_the_order_drawn() -> None:
    assert ordered(*column("abc", 700), *column("def", 700, left=250)) == "a b c d e f"


def test_a_low_column_stays_before_a_high_one_beside_it() -> None:
    assert ordered(*column("abc", 300), *column("def", 700, left=250)) == "a b c d e f"


def test_powers_stay_behind_what_they_raise() -> None:
    assert ordered(("x", 500, 0, 9), ("2", 507, 5, 9), ("+ y", 500, 10, 20)) == "x 2 + y"


@pytest.mark.parametrize("n_lines", [MAX_LINES, 100_000])
def test_a_page_drawn_upward_is_read_in_time(n_lines: int) -> None:
    lines = [Line(str(i), 30.0 * i, 0, 9) for i in range(n_lines)]
    assert in_reading_order(lines) == (lines[::-1] if n_lines == MAX_LINES else lines)


PLACES = st.integers(0, 9).map(lambda n: 30.0 * n)


@given(st.lists(st.builds(Line, st.sampled_from("abc"), PLACES, PLACES, PLACES), max_size=12))
def test_no_line_is_lost(lines: list[Line]) -> None:
    assert Counter(in_reading_order(lines)) == Counter(lines)
