"""LexRank against a dense eigenvector, on symmetric graphs, and on what is no graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spanwise.reader.summary.lexrank import LEAST_BIAS, lexrank

WEIGHT = st.floats(0, 1)
BIAS = st.floats(0.01, 1)


@st.composite
def graphs(draw):
    """A symmetric similarity (n, n) with ones on the diagonal, and a relevance (n,)."""
    size = draw(st.integers(1, 8))
    upper = np.triu(draw(arrays(float, (size, size), elements=WEIGHT)), 1)
    return upper + upper.T + np.eye(size), draw(arrays(float, size, elements=st.floats(0, 100)))


def dense(similarity: np.ndarray, relevance: np.ndarray, bias: float) -> np.ndarray:
    """The eigenvector of the whole chain for the eigenvalue 1, by numpy.linalg."""
    n = len(similarity)
    drawn = relevance / relevance.sum() if relevance.sum() > 0 else np.full(n, 1 / n)
    chain = bias * np.outer(np.ones(n), drawn) + (1 - bias) * similarity / similarity.sum(axis=1)[:, None]
    values, vectors = np.linalg.eig(chain.T)
    found = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    return found / found.sum()


@given(graphs(), BIAS)
def test_it_is_the_eigenvector_of_the_chain(graph, bias):
    similarity, relevance = graph
    np.testing.assert_allclose(
        lexrank(similarity, relevance, bias), dense(similarity, relevance, bias), atol=1e-7
    )


@given(graphs(), st.sampled_from([LEAST_BIAS, 0.15, 0.9, 1.0]))
def test_it_solves_its_equation(graph, bias):
    similarity, relevance = graph
    found = lexrank(similarity, relevance, bias)
    drawn = relevance / relevance.sum() if relevance.any() else np.full(len(found), 1 / len(found))
    walked = (similarity / similarity.sum(axis=1, keepdims=True)).T @ found
    np.testing.assert_allclose(found, bias * drawn + (1 - bias) * walked, atol=1e-11)


@given(graphs(), BIAS)
def test_probabilities_sum_to_one(graph, bias):
    found = lexrank(*graph, bias)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)


@given(st.lists(WEIGHT, min_size=1, max_size=8), BIAS)
def test_on_a_symmetric_graph_it_is_uniform(weights, bias):
    n = 2 * len(weights)  # sentence i and j are as like as their distance on a ring says
    steps = np.arange(n)[:, None] - np.arange(n)
    ring = np.array([*weights, *weights[::-1]])[np.minimum(steps % n, -steps % n)] + np.eye(n)
    np.testing.assert_allclose(lexrank(ring, None, bias), np.full(n, 1 / n), atol=1e-12)


@given(graphs(), BIAS, st.randoms(use_true_random=False))
def test_the_order_of_sentences_changes_nothing(graph, bias, random):
    similarity, relevance = graph
    order = random.sample(range(len(relevance)), len(relevance))
    moved = lexrank(similarity[np.ix_(order, order)], relevance[order], bias)
    np.testing.assert_allclose(moved, lexrank(similarity, relevance, bias)[order], atol=1e-11)


@given(graphs())
def test_a_bias_of_one_is_the_relevance(graph):
    similarity, relevance = graph
    expected = relevance / relevance.sum() if relevance.any() else 1 / len(relevance)
    np.testing.assert_allclose(lexrank(similarity, relevance, 1), np.broadcast_to(expected, len(relevance)))


def test_the_middle_of_a_path_is_the_most_central():
    first, middle, last = lexrank([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert middle > first
    assert first == pytest.approx(last)


def test_nothing_and_one_sentence():
    assert lexrank(np.zeros((0, 0))).tolist() == []
    assert lexrank([[1.0]], [0.0]).tolist() == [1.0]


def test_huge_relevance_does_not_overflow():
    assert lexrank(np.eye(2), [1e308, 1e308]).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("similarity", "relevance", "bias", "says"),
    [
        (np.ones((2, 3)), None, 0.5, r"shape \(2, 3\)"),
        ([[1, -1], [-1, 1]], None, 0.5, "below 0"),
        ([[1, math.nan], [math.nan, 1]], None, 0.5, "not finite"),
        ([[1, 0], [0, 0]], None, 0.5, "sentence 1 is like none"),
        (np.eye(2), [1.0], 0.5, r"shape \(1,\)"),
        (np.eye(2), [1.0, -1.0], 0.5, "below 0"),
        (np.eye(2), [1.0, math.inf], 0.5, "not finite"),
        (np.eye(2), None, 0.0, "bias is 0.0"),
        (np.eye(2), None, 1.5, "bias is 1.5"),
        (np.eye(2), None, math.nan, "bias is nan"),
    ],
)
def test_what_is_no_graph_is_refused(similarity, relevance, bias, says):
    with pytest.raises(ValueError, match=says):
        lexrank(similarity, relevance, bias)
