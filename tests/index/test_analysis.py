from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import sqrt
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.index.analysis import Analyzer, Token, fold, folded, ignored

ENGLISH = Analyzer()
ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)


def test_c1_four_words() -> None:
    assert len(ENGLISH.terms("Machine learning is fascinating")) == 4


def test_c2_punctuation_does_not_stick_to_words() -> None:
    assert ENGLISH.terms("I love coding!")[-1:] == ENGLISH.terms("coding")


def test_c3_commas_are_no_part_of_words() -> None:
    assert ENGLISH.terms("apple, oranges, pears") == ["appl", "orang", "pear"]


def test_c4_offsets_of_words_and_numbers() -> None:
    assert ENGLISH.tokens("Call 911!") == [Token("call", 0, 4), Token("911", 5, 8)]


@given(ANY_TEXT)
def test_c5_tokens_lie_in_the_text_in_order(text: str) -> None:
    tokens = ENGLISH.tokens(text)
    assert all(token.word in fold(text[token.start : token.end]).text for token in tokens)
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)


@given(st.text(alphabet=st.characters(max_codepoint=0x0DFF, exclude_characters="¼½¾ŉ"), max_size=60))
def test_c5_tokens_do_not_overlap(text: str) -> None:
    tokens = ENGLISH.tokens(text)
    assert all(a.end <= b.start for a, b in pairwise(tokens))
    assert all(fold(text[token.start : token.end]).text == token.word for token in tokens)


def test_words_folded_from_one_character_share_its_span() -> None:
    assert ENGLISH.tokens("¼") == [Token("1", 0, 1), Token("4", 0, 1)]


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_c6_apostrophes(apostrophe: str) -> None:
    assert set(ENGLISH.question_terms("she")) <= set(ENGLISH.terms(f"She{apostrophe}s reading a book"))
    assert ENGLISH.terms(f"I don{apostrophe}t") == ["i", "don't"]


def test_c7_twenty_five_is_split_before_stemming() -> None:
    assert ENGLISH.terms("twenty-five") == ENGLISH.question_terms("Twenty-Five") == ["twenti", "five"]


def test_c8_both_halves_find_the_compound() -> None:
    assert set(ENGLISH.question_terms("California")) < set(ENGLISH.terms("California-based"))


def test_c10_bag_of_words_and_its_cosine() -> None:
    one = Counter(ENGLISH.question_terms("Welcome to Great Learning, Now start learning"))
    two = Counter(ENGLISH.question_terms("Learning is a good practice"))
    assert list(one.items()) == [("welcom", 1), ("great", 1), ("learn", 2), ("now", 1), ("start", 1)]
    assert two == {"learn": 1, "good": 1, "practic": 1}
    dot = sum(one[term] * two[term] for term in one)
    norms = sqrt(sum(n * n for n in one.values())) * sqrt(sum(n * n for n in two.values()))
    assert dot / norms == pytest.approx(0.408248, abs=1e-6)


COMBINING = st.text(
    alphabet="ae\u0301\u0323\u1100\u1161\u11a8\uff76\uff9e\u3131\u314f\u200d\u0345ßİ", max_size=25
)


@given(ANY_TEXT | COMBINING)
def test_folding_clusters_equals_folding_the_whole(text: str) -> None:
    kept = "".join(character for character in text if character not in set(ignored()))
    whole = normalize("NFKC", normalize("NFKC", normalize("NFKC", kept).casefold()).casefold())
    whole = "".join(character for character in whole if character not in set(ignored()))
    assert fold(text).text == whole.replace("\u2019", "'").replace("\u02bc", "'")


@given(ANY_TEXT | COMBINING | st.text(alphabet="AKSaks '-\u0301\u0323\u00c9\u2019\u2013\u00df", max_size=40))
def test_the_text_alone_is_that_of_the_map(text: str) -> None:
    assert folded(text) == fold(text).text


def test_every_mark_combines_with_capitals_as_into_small_letters() -> None:
    for mark in "".join(map(chr, range(0x300, 0x370))) + ignored():
        text = mark.join("ABCDEFGHIJKLMNOPQRSTUVWXYZ ")
        assert folded(text) == fold(text).text


@given(ANY_TEXT | COMBINING)
def test_the_map_is_monotone_and_inside_the_text(text: str) -> None:
    whole = fold(text)
    assert len(whole.text) == len(whole.starts) == len(whole.ends)
    assert list(whole.starts) == sorted(whole.starts)
    assert list(whole.ends) == sorted(whole.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(whole.starts, whole.ends, strict=True))


@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(text).text
    assert fold(once).text == once


def test_one_character_that_becomes_eighteen_keeps_its_place() -> None:
    whole = fold("a\ufdfab")
    assert len(whole.text) == 20
    assert (whole.starts[1], whole.ends[18]) == (1, 2)


def test_c28_the_accent_stays_with_its_letter() -> None:
    assert fold("cafe\u0301").text == fold("caf\u00e9").text
    assert fold("cafe\u0301").ends[-1] == 5


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u2066", "\u00ad", "\ufeff", "\U000e0041", "\ufe0f"])
def test_invisible_characters_are_dropped_for_matching(hidden: str) -> None:
    whole = fold(f"mi{hidden}ll{hidden}")
    assert whole.text == "mill"
    assert whole.ends[-1] == 5


def test_a_million_marks_in_a_row_are_folded() -> None:
    assert fold("a" + "\u0301\u0323" * 500_000).text.startswith("\u1ea1")
