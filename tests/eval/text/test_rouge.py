"""ROUGE by hand, and equal to the rouge-score package."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_texts import made_pairs, real_pairs
from rouge_score.rouge_scorer import RougeScorer

from spanwise.eval.text.rouge import Rouge, rouge, rouge_l, rouge_lsum, rouge_n, rouge_tokens

NAMES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
REFERENCE, CANDIDATE = "the black cat sat on the mat", "the cat sat on the mat"


@cache
def scorer(stem: bool) -> RougeScorer:
    return RougeScorer(NAMES, use_stemmer=stem)


def require_parity(references: list[str], candidate: str, stem: bool = False) -> None:
    expected = scorer(stem).score_multi(references, candidate)
    for name, found in rouge(references, candidate, stem).items():
        given = (found.precision, found.recall, found.f1)
        assert given == pytest.approx(tuple(expected[name]), abs=1e-9), (name, references, candidate)


def test_e8_unigrams() -> None:
    assert rouge([REFERENCE], CANDIDATE)["rouge1"] == Rouge(1.0, 6 / 7, pytest.approx(0.923077, abs=5e-7))


@pytest.mark.parametrize(("n", "expected"), [(2, (0.8, 0.666667, 0.727273)), (3, (0.75, 0.6, 0.666667))])
def test_e9_longer_ngrams(n: int, expected: tuple[float, ...]) -> None:
    found = rouge_n(REFERENCE.split(), CANDIDATE.split(), n)
    assert (found.precision, found.recall, found.f1) == pytest.approx(expected, abs=5e-7)


def test_e10_longest_common_subsequence() -> None:
    found = rouge_l(REFERENCE.split(), CANDIDATE.split())
    assert (found.precision, found.recall, found.f1) == pytest.approx((1, 0.857143, 0.923077), abs=5e-7)


@pytest.mark.parametrize("stem", [False, True])
def test_equal_to_rouge_score_on_made_texts(stem: bool) -> None:
    for references, candidate in made_pairs(1000):
        require_parity(references, candidate, stem)


@pytest.mark.parametrize("stem", [False, True])
def test_equal_to_rouge_score_on_real_texts(data: Path, stem: bool) -> None:
    for references, candidate in real_pairs(data, 12):
        require_parity(references, candidate, stem)


@given(
    st.lists(st.text("ab\n", max_size=20).map(" ".join), min_size=1, max_size=3),
    st.text("ab\n").map(" ".join),
)
def test_equal_to_rouge_score_on_few_words(references: list[str], candidate: str) -> None:
    require_parity(references, candidate)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=3), st.text(max_size=30))
def test_equal_to_rouge_score_on_any_text(references: list[str], candidate: str) -> None:
    require_parity(references, candidate)


def test_of_equally_good_references_the_first_counts() -> None:
    found = rouge(["a b", "a x y z b c"], "a b c d")["rouge1"]
    assert (found.precision, found.recall) == (0.5, 1.0)


def test_a_word_is_a_hit_at_most_as_often_as_the_candidate_has_it() -> None:
    assert rouge_lsum([["a"], ["a"]], [["a"]]).recall == 0.5


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_common_subsequence_is_the_same_from_both_sides(a: list[str], b: list[str]) -> None:
    there, back = rouge_l(a, b), rouge_l(b, a)
    assert (there.precision, there.recall, there.f1) == (back.recall, back.precision, back.f1)


@pytest.mark.parametrize("text", ["", " ", "?!", "水車"])
def test_texts_without_words_score_nothing(text: str) -> None:
    assert rouge_tokens(text) == []
    assert set(rouge([text], text).values()) == {Rouge(0.0, 0.0, 0.0)}


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="no references"):
        rouge([], "a")
    with pytest.raises(ValueError, match="n is 0"):
        rouge_n(["a"], ["a"], 0)
