from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.index.analysis.characters import ignored
from spanwise.index.analysis.fold import fold, folded

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
MELTING = st.text(
    alphabet="ae\u0301\u0323\u1100\u1161\u11a8\uff76\uff9e\u3131\u314f\u200d\u0345ßİ", max_size=25
)


@given(ANY_TEXT | MELTING)
def test_folding_clusters_equals_folding_the_whole(text: str) -> None:
    kept = "".join(character for character in text if character not in set(ignored()))
    whole = normalize("NFKC", normalize("NFKC", normalize("NFKC", kept).casefold()).casefold())
    whole = "".join(character for character in whole if character not in set(ignored()))
    assert fold(text).text == whole.replace("\u2019", "'").replace("\u02bc", "'")


@given(ANY_TEXT | MELTING | st.text(alphabet="AKSaks '-\u0301\u0323\u00c9\u2019\u2013\u00df", max_size=40))
def test_the_text_alone_is_that_of_the_map(text: str) -> None:
    assert folded(text) == fold(text).text


def test_every_mark_melts_into_capitals_as_into_small_letters() -> None:
    for mark in "".join(map(chr, range(0x300, 0x370))) + ignored():
        text = mark.join("ABCDEFGHIJKLMNOPQRSTUVWXYZ ")
        assert folded(text) == fold(text).text


@given(ANY_TEXT | MELTING)
def test_the_map_is_monotone_and_inside_the_text(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert list(folded.ends) == sorted(folded.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))


@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(text).text
    assert fold(once).text == once


def test_one_character_that_becomes_eighteen_keeps_its_place() -> None:
    folded = fold("a\ufdfab")
    assert len(folded.text) == 20
    assert (folded.starts[1], folded.ends[18]) == (1, 2)


def test_c28_the_accent_stays_with_its_letter() -> None:
    assert fold("cafe\u0301").text == fold("caf\u00e9").text
    assert fold("cafe\u0301").ends[-1] == 5


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u2066", "\u00ad", "\ufeff", "\U000e0041", "\ufe0f"])
def test_invisible_characters_are_dropped_for_matching(hidden: str) -> None:
    folded = fold(f"mi{hidden}ll{hidden}")
    assert folded.text == "mill"
    assert folded.ends[-1] == 5


def test_a_million_marks_in_a_row_are_folded() -> None:
    assert fold("a" + "\u0301\u0323" * 500_000).text.startswith("\u1ea1")
