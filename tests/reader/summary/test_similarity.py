"""Cosines of sentences: worked, bounded, and none from nothing."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.summary.relevance import blended_relevance, scaled, term_relevance
from spanwise.reader.summary.similarity import (
    idf_modified_cosine,
    inverse_sentence_frequency,
    term_counts,
    unit_rows,
    vocabulary,
)

SENTENCES = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=7)


def cosines(sentences: list[list[str]]) -> np.ndarray:
    counts = term_counts(sentences, vocabulary(sentences))
    return idf_modified_cosine(counts, inverse_sentence_frequency(counts))


def cosine_by_hand(sentences: list[list[str]], i: int, j: int) -> float:
    """Erkan and Radev's equation 1, term by term."""
    n, found = len(sentences), Counter(term for one in sentences for term in set(one))
    one, other = (
        {term: tf * math.log((n + 1) / (0.5 + found[term])) for term, tf in Counter(sentences[at]).items()}
        for at in (i, j)
    )
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return sum(one[term] * other.get(term, 0.0) for term in one) / lengths if lengths else float(i == j)


@given(SENTENCES)
def test_cosines_are_those_computed_term_by_term(sentences):
    found = cosines(sentences)
    expected = [[cosine_by_hand(sentences, i, j) for j in range(len(found))] for i in range(len(found))]
    np.testing.assert_allclose(found, np.reshape(expected, found.shape), atol=1e-12)


@given(SENTENCES)
def test_cosines_are_symmetric_and_at_most_one(sentences):
    found = cosines(sentences)
    assert np.array_equal(found, found.T)
    assert (found >= 0).all()
    assert (found <= 1).all()
    assert (np.diag(found) == 1).all()


def test_a_term_of_every_sentence_still_counts():
    counts = np.ones((5, 1))
    assert inverse_sentence_frequency(counts)[0] == pytest.approx(math.log(6 / 5.5))


def test_terms_without_a_column_are_passed_over():
    assert term_counts([["x", "a"]], {"a": 0}).tolist() == [[1.0]]


def test_huge_vectors_do_not_overflow():
    assert np.allclose(unit_rows(np.array([[1e300, 1e300]])), math.sqrt(0.5))


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_outside_of_0_to_1_is_refused(share):
    with pytest.raises(ValueError, match="share"):
        blended_relevance(np.ones(1), [1.0], share)


def test_relevance_by_hand():
    counts, asked = np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([1.0, 1.0])
    found = term_relevance(counts, asked, np.array([0.5, 2.0]))
    first = math.log(3) * math.log(2) * 0.5
    assert found.tolist() == pytest.approx([first, math.log(2) ** 2 * 2.5])


def test_relevances_are_blended_at_a_sum_of_one():
    found = blended_relevance(np.array([3.0, 1.0]), [0.0, 0.5], 0.25)
    assert found.tolist() == [0.5625, 0.4375]
    assert blended_relevance(np.zeros(2), [1.0, 3.0], 0.5).tolist() == [0.125, 0.375]
    assert blended_relevance(np.array([1e308, 1e308]), [0.0, 0.0], 0.5).tolist() == [0.25, 0.25]


@pytest.mark.parametrize("given", [[1.0], [1.0, -0.1], [1.0, math.nan], [math.inf, 1.0], [[1.0], [1.0]]])
def test_relevance_that_does_not_fit_is_refused(given):
    with pytest.raises(ValueError, match="relevance"):
        blended_relevance(np.ones(2), given, 0.5)


def test_what_is_all_zero_is_not_scaled():
    assert scaled(np.zeros(2)).tolist() == [0.0, 0.0]
    assert scaled(np.zeros(0)).tolist() == []
