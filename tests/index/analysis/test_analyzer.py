from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import sqrt
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import ModelMismatch
from spanwise.index.analysis import Analyzer, Token
from spanwise.index.analysis.analyzer import _words
from spanwise.index.analysis.fold import fold

ENGLISH = Analyzer()
PLAIN = Analyzer(stem=False, stop_words=False)
ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)


def test_c1_four_words() -> None:
    assert len(PLAIN.terms("Machine learning is fascinating")) == 4


def test_c2_punctuation_does_not_stick_to_words() -> None:
    assert ENGLISH.terms("I love coding!")[-1:] == ENGLISH.terms("coding")


def test_c3_commas_are_no_part_of_words() -> None:
    assert PLAIN.terms("apple, oranges, pears") == ["apple", "oranges", "pears"]


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
    plain_with_stops = Analyzer(stem=False)
    one = Counter(plain_with_stops.question_terms("Welcome to Great Learning, Now start learning"))
    two = Counter(plain_with_stops.question_terms("Learning is a good practice"))
    assert list(one.items()) == [("welcome", 1), ("great", 1), ("learning", 2), ("now", 1), ("start", 1)]
    assert two == {"learning": 1, "good": 1, "practice": 1}
    dot = sum(one[term] * two[term] for term in one)
    norms = sqrt(sum(n * n for n in one.values())) * sqrt(sum(n * n for n in two.values()))
    assert dot / norms == pytest.approx(0.408248, abs=1e-6)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("running", "run"), ("runner", "runner"), ("ran", "ran"), ("arguing", "argu"), ("argued", "argu"),
        ("caring", "care"), ("university", "universiti"), ("universal", "universal"), ("studies", "studi"),
        ("better", "better"), ("video", "video"), ("videos", "video"),
    ],
)  # fmt: skip
def test_c12_to_c18_snowball_english(word: str, stem: str) -> None:
    assert ENGLISH.terms(word) == [stem]


def test_a_question_of_stop_words_keeps_them() -> None:
    assert ENGLISH.question_terms("To be, or not to be?") == ["to", "be", "or", "not", "to", "be"]
    assert ENGLISH.question_terms("who founded the mill?") == ["found", "mill"]


def test_cjk_becomes_pairs_of_characters() -> None:
    assert ENGLISH.terms("東京都 x") == ["東京", "京都", "x"]
    assert ENGLISH.tokens("東京都")[1] == Token("京都", 1, 3)
    assert ENGLISH.terms("猫") == ["猫"]


def test_words_of_scripts_with_vowel_marks_stay_whole() -> None:
    assert ENGLISH.terms("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


@given(ANY_TEXT)
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    # Compatibility ideographs are folded by both forms; only canonical equivalence is claimed.
    assert ENGLISH.terms(normalize("NFC", text)) == ENGLISH.terms(normalize("NFD", text))


@given(ANY_TEXT | st.text("as'1 _-\u00e9\u2019\u2013\u0301\u0e01\u4e00\uac00\u0915\u093e", max_size=30))
def test_terms_are_those_of_the_tokens(text: str) -> None:
    assert ENGLISH.terms(text) == [ENGLISH.term(token.word) for token in ENGLISH.tokens(text)]


@given(st.text(alphabet="ab'1 -_.\u00e9", max_size=30))
def test_the_ascii_words_are_those_of_the_unicode_rule(text: str) -> None:
    ascii_text = text.replace("\u00e9", "e")
    with_accent = [word.replace("\u00e9", "e") for word, _, _ in _words(text + " \u00e9")][:-1]
    assert [word for word, _, _ in _words(ascii_text)] == with_accent


def test_settings_name_the_stemmer_and_come_back() -> None:
    assert ENGLISH.settings()["analyzer.stemmer"].startswith("snowball english 3")
    assert Analyzer.from_settings(PLAIN.settings() | {"format": "1"}) == PLAIN


def test_another_stemmer_version_is_refused() -> None:
    with pytest.raises(ModelMismatch, match=r"snowball english 2\.2\.0.*spanwise index"):
        Analyzer.from_settings(ENGLISH.settings() | {"analyzer.stemmer": "snowball english 2.2.0"})


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="klingon"):
        Analyzer(language="klingon")
