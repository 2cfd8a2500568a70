"""LexRank against a dense eigenvector, MMR against its definition, and the choice of sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spanwise.reader.summary import choose_sentences, is_sentence, lexrank, mmr

BIAS = st.floats(0.01, 1)
TEXTS = [
    "the mill on the river burnt down in may",
    "the mill burnt down and the river rose",
    "ada rook built the mill in 1811",
    "the tram ran to the harbour every ten minutes",
]


@st.composite
def graphs(draw):
    """A symmetric similarity (n, n) with ones on the diagonal, and a relevance (n,)."""
    size = draw(st.integers(1, 8))
    upper = np.triu(draw(arrays(float, (size, size), elements=st.floats(0, 1))), 1)
    return upper + upper.T + np.eye(size), draw(arrays(float, size, elements=st.floats(0, 100)))


@given(graphs(), BIAS)
def test_lexrank_is_the_eigenvector_of_the_chain(graph, bias):
    similarity, relevance = graph
    n = len(similarity)
    drawn = relevance / relevance.sum() if relevance.sum() > 0 else np.full(n, 1 / n)
    chain = bias * np.outer(np.ones(n), drawn) + (1 - bias) * similarity / similarity.sum(axis=1)[:, None]
    values, vectors = np.linalg.eig(chain.T)
    expected = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    found = lexrank(similarity, relevance, bias)
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-7)
    assert found.sum() == pytest.approx(1, abs=1e-12)


@given(graphs(), st.floats(0, 1), st.integers(0, 8))
def test_each_mmr_choice_is_the_best_that_is_left(graph, trade_off, k):
    likeness, score = graph
    score = score / max(1.0, score.max())
    taken = mmr(score, likeness, trade_off, k)
    assert len(taken) == len(set(taken)) == min(k, len(score))
    for at, one in enumerate(taken):
        worth = [
            trade_off * score[i] - (1 - trade_off) * max((likeness[i, j] for j in taken[:at]), default=0.0)
            for i in range(len(score))
            if i not in taken[:at]
        ]
        mine = trade_off * score[one]
        mine -= (1 - trade_off) * max((likeness[one, j] for j in taken[:at]), default=0.0)
        assert mine == pytest.approx(max(worth), abs=1e-9)


def terms(texts=TEXTS):
    return [text.split() for text in texts]


def test_the_question_draws_the_choice():
    assert choose_sentences(terms(), "who built the mill".split(), 1) == [2]
    assert choose_sentences(terms(), ["tram"], 1) == [3]
    assert choose_sentences(terms(), (), 1) in ([0], [1])


@given(st.lists(st.sampled_from(TEXTS), max_size=12), st.integers(1, 5))
def test_choices_are_distinct_in_order_and_at_most_k(texts, k):
    chosen = choose_sentences(terms(texts), ["mill"], k)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= k
    assert len({texts[at] for at in chosen}) == len(chosen)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("The mill on the river burnt down in May.", True),
        ("“The mill on the river burnt down,” she said.[1]", True),
        ("## The mill on the river and its past.", False),
        ("| a | b | c | d | e | f |", False),
        ("The mill burnt.", False),
        ("for (i = 0; i < n; i++) { run(a, b, c); }", False),
        ("The mill on the river and its many wheels", False),
    ],
)
def test_headings_rows_code_and_crumbs_are_no_sentences(text, complete):
    assert is_sentence(text) is complete
