"""Running headers and footers are dropped after their first occurrence; other lines stay."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from spanwise.corpora.readers.page_layout import Line, Page, drop_running_lines, in_reading_order

HEIGHT = 700


def pages_of(*pages: list[str]) -> list[Page]:
    return [Page(tuple(Line(text, HEIGHT - 14 * i) for i, text in enumerate(lines))) for lines in pages]


def lines_left(*pages: list[str]) -> list[list[str]]:
    return [[line.text for line in page.lines] for page in drop_running_lines(pages_of(*pages))]


def test_page_numbers_are_dropped() -> None:
    assert lines_left(["a", "- 7 -"], ["b", "- 8 -"], ["c", "- 9 -"]) == [["a"], ["b"], ["c"]]


def test_a_header_stays_only_on_its_first_page() -> None:
    pages = [["The Mill", "a"], ["The Mill", "b"], ["The Mill", "c"], ["The Mill", "d"]]
    assert lines_left(*pages) == [["The Mill", "a"], ["b"], ["c"], ["d"]]


@given(
    st.lists(
        st.lists(st.sampled_from(["The Mill", "7", "8", "Page 9", "a", "b c", ""]), max_size=6), max_size=9
    )
)
def test_no_word_is_lost(texts: list[list[str]]) -> None:
    def words(pages: list[Page]) -> set[str]:
        lines = (line.text for page in pages for line in page.lines)
        return {word for line in lines for word in line.split() if word.isalpha() and word != "Page"}

    pages = pages_of(*texts)
    left = drop_running_lines(pages)
    assert words(left) == words(pages)
    assert all(set(a.lines) >= set(b.lines) for a, b in zip(pages, left, strict=True))


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
        ([*column("abc", 700), *column("def", 700, left=250)], "a b c d e f"),
    ],
)
def test_parts_drawn_in_the_wrong_order_are_reordered(
    drawn: list[tuple[str, float, float, float]], expected: str
) -> None:
    assert ordered(*drawn) == expected


PLACES = st.integers(0, 9).map(lambda n: 30.0 * n)


@given(st.lists(st.builds(Line, st.sampled_from("abc"), PLACES, PLACES, PLACES), max_size=12))
def test_no_line_is_lost(lines: list[Line]) -> None:
    assert Counter(in_reading_order(lines)) == Counter(lines)
