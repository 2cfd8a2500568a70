"""Headers and footers go after their first occurrence; whatever else stands at an edge stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.readers.pdf_pages import NO_TEXT, Line, Page
from spanwise.corpora.readers.running_lines import drop_running_lines

HEIGHT = 700


def pages_of(*pages: list[str]) -> list[Page]:
    return [Page(tuple(Line(text, HEIGHT - 14 * i) for i, text in enumerate(lines))) for lines in pages]


def kept(*pages: list[str]) -> list[list[str]]:
    return [[line.text for line in page.lines] for page in drop_running_lines(pages_of(*pages))]


def test_a_header_stays_on_its_first_page_alone() -> None:
    assert kept(*(["The Mill", letter] for letter in "abcd")) == [["The Mill", "a"], ["b"], ["c"], ["d"]]


def test_bare_page_numbers_go_everywhere() -> None:
    assert kept(*([letter, f"- {i} -"] for i, letter in enumerate("abc", start=7))) == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize("footer", ["Page {} of 9", "{}", "- {} -", "{} / 9", "p. {}", "[{}]"])
def test_forms_of_bare_page_numbers(footer: str) -> None:
    assert kept(*([letter, footer.format(i + 1)] for i, letter in enumerate("abc"))) == [["a"], ["b"], ["c"]]


def test_a_number_that_does_not_grow_with_the_page_stays() -> None:
    pages = [["item", f"Total {n}"] for n in (3, 9, 27, 30)]
    assert [lines[-1] for lines in kept(*pages)] == [lines[-1] for lines in pages]


def test_two_lines_and_both_edges_go() -> None:
    pages = [
        [f"The Mill {i + 1}", "By E. Hale", f"body {'abcd'[i]}", "All rights reserved"] for i in range(4)
    ]
    assert kept(*pages) == [pages[0], *([f"body {letter}"] for letter in "bcd")]


def test_left_and_right_pages_have_headers_of_their_own() -> None:
    pages = [["Hale" if i % 2 else "The Mill", f"body {'abcdefgh'[i]}"] for i in range(8)]
    assert [len(lines) for lines in kept(*pages)] == [2, 2, 1, 1, 1, 1, 1, 1]


def test_a_header_of_one_chapter_alone_goes() -> None:
    pages = [[f"{'The Weir' if i < 6 else 'The Wheel'} {i}", f"body {'abcdefghijkl'[i]}"] for i in range(12)]
    assert [i for i, lines in enumerate(kept(*pages)) if len(lines) == 2] == [0, 6]


def test_where_the_file_draws_a_footer_does_not_matter() -> None:
    pages = [Page((Line("Hale 1998", 20), Line("The Mill", 700), Line(f"body {c}", 600))) for c in "abcde"]
    assert [line.text for line in drop_running_lines(pages)[3].lines] == ["body d"]


def test_lines_inside_a_page_stay() -> None:
    pages = [[f"first {c}", "The Mill", f"last {c}"] for c in "abcdefgh"]
    assert kept(*pages) == pages


def test_three_slides_under_one_title_keep_it() -> None:
    pages = [["Results", f"point {c}"] for c in "abc"]
    assert kept(*pages) == pages


def test_a_page_with_nothing_but_a_header_has_no_text() -> None:
    pages = drop_running_lines(
        pages_of(*(["Scanned for the council", *rest] for rest in (["a"], ["b"], [], ["c"])))
    )
    assert [page.remark for page in pages] == ["", "", NO_TEXT, ""]


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
