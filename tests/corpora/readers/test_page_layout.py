"""Running headers and footers are dropped after their first occurrence; other lines stay."""

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from spanwise.corpora.readers.page_layout import (
    Line,
    Page,
    drop_running_lines,
    in_reading_order,
    joined,
    with_bars,
)

HEIGHT = 700


def pages_of(*pages: list[str], first_size: float = 10.0) -> list[Page]:
    return [
        Page(
            tuple(Line(text, HEIGHT - 14 * i, size=10.0 if i else first_size) for i, text in enumerate(lines))
        )
        for lines in pages
    ]


def lines_left(*pages: list[str]) -> list[list[str]]:
    return [[line.text for line in page.lines] for page in drop_running_lines(pages_of(*pages))]


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("Page 1 of 3", "Page 2 of 3", "Page 3 of 3"),
        ("1234", "1235", "1236"),
        ("Seite 9/20", "Seite 10/20", "Seite 11/20"),
        ("iii", "iv", "v"),
        ("p. 99", "p. 100", "p. 101"),
        ("| 7", "| 8", "| 9"),
        ("- 7 -", "- 8 -", "- 9 -"),
    ],
)
def test_bare_page_numbers_of_any_kind_are_dropped(first: str, second: str, third: str) -> None:
    assert lines_left(["a", first], ["b", second], ["c", third]) == [["a"], ["b"], ["c"]]


def test_words_beside_page_numbers_stay_once() -> None:
    pages = [[f"text {number}.", f"Lease 4711, page {number} of 4"] for number in range(1, 5)]
    assert lines_left(*pages) == [pages[0], *(page[:1] for page in pages[1:])]


def test_page_numbers_of_left_and_right_pages_are_dropped() -> None:
    pages = [["a", "1"], ["2 |", "b"], ["c", "3"], ["4 |", "d"], ["e", "5"], ["6 |", "f"]]
    assert lines_left(*pages) == [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]


@pytest.mark.parametrize(
    "title", ["Week {}", "Invoice 100{}", "202{}", "Chapter {}", "Page-Turner {}", "{}A"]
)
def test_titles_with_a_number_stay(title: str) -> None:
    pages = [[title.format(i), "abcdef"[i]] for i in range(1, 6)]
    assert lines_left(*pages) == pages


@pytest.mark.parametrize("title", ["{} Chapter one", "Chapter one {}", "Report 2021, page {}"])
@pytest.mark.parametrize("place", [0, 2])
def test_titles_with_a_number_cut_no_sentence(title: str, place: int) -> None:
    texts = [
        ["The mill was built", "beside the river."],
        ["It burned in May", "and the owners of the"],
        ["old mill, who lived in town,", "wept."],
        ["It stands again", "and works."],
    ]
    pages = [text.copy() for text in texts]
    for number, page in enumerate(pages, start=11):
        page.insert(place, title.format(number))
    expected = [page.copy() for page in pages]
    cut = 1 if place else 2  # the page with a title between "of the" and "old mill"
    expected[cut] = texts[cut]
    assert lines_left(*pages) == expected


def test_a_footer_is_kept_where_it_cuts_no_sentence() -> None:
    texts = [["The owners of the"], ["old mill, who lived in town, wept."], ["It burned."], ["It stands."]]
    pages = [[*text, "The Mill"] for text in texts]
    assert lines_left(*pages) == [texts[0], pages[1], *texts[2:]]


def test_large_numbers_stay() -> None:
    pages = pages_of(["1", "the first"], ["2", "the second"], ["3", "the third"], first_size=24.0)
    assert drop_running_lines(pages) == pages


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


def row(height, *cells, size=10.0):
    """A line whose pieces are (left, text), five points a character."""
    return joined([Line(text, height, left, left + 5 * len(text), size) for left, text in cells])


def test_rows_in_the_same_columns_are_a_table_with_its_empty_cells():
    lines = [
        Line("Prices", 130.0, 0.0, 30.0, 10.0),
        row(110, (0, "Plan"), (100, "Per month"), (200, "Users")),
        row(95, (0, "Basic"), (110, "8 EUR"), (210, "1")),
        row(80, (0, "Team"), (105, "21 EUR")),
        row(65, (0, "Pro"), (105, "45 EUR"), (205, "50")),
    ]
    texts = [line.text for line in with_bars(lines)]
    expected = ["Plan | Per month | Users", "Basic | 8 EUR | 1", "Team | 21 EUR | ", "Pro | 45 EUR | 50"]
    assert texts == ["Prices", *expected]


def test_a_piece_without_characters_is_an_empty_cell():
    lines = [row(y, (0, ""), (100, "8 EUR")) for y in (60, 45, 30)]
    assert [line.text for line in with_bars(lines)] == [" | 8 EUR"] * 3


@pytest.mark.parametrize(
    "lines",
    [
        [row(y, (0, "-"), (20, "a thing to do")) for y in (60, 45, 30)],  # a list
        [row(y, (0, "Plan"), (100, "8 EUR")) for y in (60, 45)],  # two rows
        [
            row(y, (0, "a sentence that goes on and"), (200, "on in two columns of prose"))
            for y in range(90, 0, -15)
        ],
        [
            row(60, (0, "a"), (90, "b")),
            row(45, (40, "c"), (130, "d")),
            row(30, (80, "e"), (170, "f")),
        ],  # no columns
    ],
)
def test_what_may_be_no_table_stays_as_it_is(lines):
    assert list(with_bars(lines)) == lines
