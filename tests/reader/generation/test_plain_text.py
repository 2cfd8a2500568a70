"""Text from elsewhere is shown without what steers a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.generation.faults import QUOTED, Fault, quoted
from spanwise.reader.generation.plain_text import PlainText, plain

ANY = st.text(st.characters(exclude_categories=()) | st.sampled_from("\x1b\x9b\n\t\r\0"))


@given(ANY)
def test_only_newline_and_tab_are_left_of_the_controls(text: str) -> None:
    assert {char for char in plain(text) if unicodedata.category(char) in ("Cc", "Cs")} <= {"\n", "\t"}
    plain(text).encode()


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_other_text_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


@given(st.lists(ANY | st.text(st.characters(categories=("Cs",)))))
def test_pieces_give_the_same_as_the_whole(pieces: list[str]) -> None:
    text = PlainText()
    assert "".join([*map(text.add, pieces), text.rest()]) == plain("".join(pieces))


@given(ANY)
def test_what_is_quoted_is_one_short_line(text: str) -> None:
    line = quoted(text)
    assert line.isprintable()
    assert len(line) <= QUOTED


def test_a_secret_at_the_cut_does_not_show_in_part() -> None:
    assert "SECR" not in quoted("x" * (QUOTED - 5) + "SECRET", "secret")


def test_our_own_words_hold_no_secret_either() -> None:
    assert Fault("has no model 'sk-123456'").line("sk-123456") == "has no model '***'"


def test_a_secret_is_covered_wherever_and_however_it_stands() -> None:
    assert quoted("İ Key-9 and KEY-9key-9", "key-9") == "İ *** and ******"
