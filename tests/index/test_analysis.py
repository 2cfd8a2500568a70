from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import given, strategies as st

from spanwise.errors import ModelMismatch
from spanwise.index.analysis import Analyzer, Token, fold, folded, ignored, name_of

ENGLISH = Analyzer()
ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)


def test_a_token_has_the_offsets_of_its_word_or_number() -> None:
    assert ENGLISH.tokens("Call 911!") == [Token("call", 0, 4), Token("911", 5, 8)]


@given(ANY_TEXT)
def test_tokens_lie_in_the_text_in_order(text: str) -> None:
    tokens = ENGLISH.tokens(text)
    assert all(token.word in fold(text[token.start : token.end]).text for token in tokens)
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)


@given(st.text(alphabet=st.characters(max_codepoint=0x0DFF, exclude_characters="¼½¾ŉ"), max_size=60))
def test_tokens_do_not_overlap(text: str) -> None:
    tokens = ENGLISH.tokens(text)
    assert all(a.end <= b.start for a, b in pairwise(tokens))
    assert all(fold(text[token.start : token.end]).text == token.word for token in tokens)


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_an_apostrophe_ends_a_possessive_and_stays_in_a_contraction(apostrophe: str) -> None:
    assert set(ENGLISH.question_terms("she")) <= set(ENGLISH.terms(f"She{apostrophe}s reading a book"))
    assert ENGLISH.terms(f"I don{apostrophe}t") == ["i", "don't"]


COMBINING = st.text(
    alphabet="ae\u0301\u0323\u1100\u1161\u11a8\uff76\uff9e\u3131\u314f\u200d\u0345ßİ", max_size=25
)


@given(ANY_TEXT | COMBINING)
def test_folding_clusters_equals_folding_the_whole_text(text: str) -> None:
    visible = "".join(character for character in text if character not in set(ignored()))
    whole = normalize("NFKC", normalize("NFKC", normalize("NFKC", visible).casefold()).casefold())
    whole = "".join(character for character in whole if character not in set(ignored()))
    assert fold(text).text == whole.replace("\u2019", "'").replace("\u02bc", "'")


@given(ANY_TEXT | COMBINING | st.text(alphabet="AKSaks '-\u0301\u0323\u00c9\u2019\u2013\u00df", max_size=40))
def test_folding_with_and_without_offsets_gives_the_same_text(text: str) -> None:
    assert folded(text) == fold(text).text


@given(ANY_TEXT | COMBINING)
def test_offsets_of_folded_text_ascend_and_lie_in_the_text(text: str) -> None:
    whole = fold(text)
    assert len(whole.text) == len(whole.starts) == len(whole.ends)
    assert list(whole.starts) == sorted(whole.starts)
    assert list(whole.ends) == sorted(whole.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(whole.starts, whole.ends, strict=True))


def test_an_accent_stays_with_its_letter() -> None:
    assert fold("cafe\u0301").text == fold("caf\u00e9").text
    assert fold("cafe\u0301").ends[-1] == 5


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u2066", "\u00ad", "\ufeff", "\U000e0041", "\ufe0f"])
def test_invisible_characters_are_dropped_for_matching(hidden: str) -> None:
    whole = fold(f"mi{hidden}ll{hidden}")
    assert whole.text == "mill"
    assert whole.ends[-1] == 5


def test_a_million_marks_in_a_row_are_folded() -> None:
    assert fold("a" + "\u0301\u0323" * 500_000).text.startswith("\u1ea1")


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("running", "run"), ("runner", "runner"), ("ran", "ran"), ("arguing", "argu"), ("argued", "argu"),
        ("caring", "care"), ("university", "universiti"), ("universal", "universal"), ("studies", "studi"),
        ("better", "better"), ("video", "video"), ("videos", "video"),
    ],
)  # fmt: skip
def test_stems_are_those_of_snowball_for_english(word: str, stem: str) -> None:
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


def test_another_stemmer_version_is_refused() -> None:
    with pytest.raises(ModelMismatch, match=r"snowball english 2\.2\.0.*spanwise index"):
        Analyzer.from_settings(ENGLISH.settings() | {"analyzer.stemmer": "snowball english 2.2.0"})


@pytest.mark.parametrize(
    ("shown", "plain"), [("€1,249.50", "1249.5"), ("(1,250,000)", "1250000"), ("3,000.00", "3000")]
)
def test_a_grouped_number_has_the_terms_of_its_plain_form(shown: str, plain: str) -> None:
    assert set(Analyzer().terms(plain)) <= set(Analyzer().terms(shown))


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("colours favourite", "colors favorite"),
        ("centre metres fibre", "center meters fiber"),
        ("organised analysing specialisation", "organized analyzing specialization"),
        ("T O T A L", "t o t a l total"),
    ],
)
def test_words_have_the_terms_of_another_spelling(british: str, american: str) -> None:
    assert set(Analyzer().terms(british)) == set(Analyzer().terms(american))


def test_other_words_keep_their_terms() -> None:
    assert Analyzer().terms("hours flour devise precise A B C D entire") == [
        "hour", "flour", "devis", "precis", "a", "b", "c", "d", "entir",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("10\u2076", ["10", "6"]),
        ("2.6 \u00d7 10\u2075 stars\u00b3", ["2", "6", "10", "5", "stars3"]),
        ("10\u207b\u00b2", ["10", "2"]),
        ("1,250\u00b3 t", ["1", "250", "3", "t"]),
        ("H\u2082O and m\u00b3", ["h2o", "and", "m3"]),
    ],
)
def test_a_raised_digit_never_joins_a_number(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms
    words = [token.word for token in Analyzer().tokens(text)]
    assert [Analyzer().term(word) for word in words] == terms


def test_an_index_with_the_older_rules_answers() -> None:
    settings = Analyzer().settings()
    for rules in ("2", "3", "4"):
        Analyzer.from_settings(settings | {"analyzer.rules": rules})
    with pytest.raises(ModelMismatch):
        Analyzer.from_settings(settings | {"analyzer.rules": "1"})


@pytest.mark.parametrize(
    ("document_id", "expected"),
    [
        ("clients/Acme_North/01-contract.docx", {"client", "acm", "north", "contract"}),
        ("pumps/kx-14.md", {"pump", "kx", "14"}),
        ("10023.pdf", {"10023"}),
        ("2023-05 minutes.md", {"2023", "05", "minut"}),
        ("JavaScript.md", {"javascript", "java", "script"}),
        ("The_a.txt", set()),
        ("料金表.txt", {"料金", "金表"}),
        ("4983", set()),
        ("5733be284776f41900661182", set()),
        ("mail/3f2504e0-4f89-11d3-9a0c-0305e82c3301.eml", {"mail"}),
    ],
)
def test_the_terms_of_a_path_are_words_and_no_digests(document_id: str, expected: set[str]) -> None:
    assert Analyzer().name_terms(document_id) == expected


def test_the_name_of_a_dated_file_has_its_month() -> None:
    assert name_of("minutes_2022-11-03.md") == "minutes 2022-11-03 November"
    assert name_of("minutes_2022-13.md") == "minutes 2022-13"
