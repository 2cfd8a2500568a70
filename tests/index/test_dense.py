"""Exact inner-product search, and the checks of vectors on their way in and as questions."""

import numpy as np
import pytest
from helpers.passage_rows import NOBODY, places, unit, vectors_in
from hypothesis import given, strategies as st

from spanwise.errors import VectorRejected
from spanwise.index.dense import VectorIndex


def index_in(*parts, deleted=NOBODY):
    return VectorIndex(vectors_in(*parts, deleted=deleted), places)


def test_negative_scores_are_returned_in_order() -> None:
    cat = [0.2, 0.8, -0.3]
    dog = [0.1, 0.7, -0.2]
    mat = [-0.5, 0.1, 0.6]
    (ranking,) = index_in(unit([mat, dog, cat])).search(unit([cat]), 3)
    assert ranking.passage_ids.tolist() == [3, 2, 1]
    assert ranking.scores.tolist() == pytest.approx([1, 0.992516, -0.289460], abs=1e-6)


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 10**6), st.integers(1, 70), st.booleans())
def test_the_best_k_are_those_of_exact_arithmetic(n, width, seed, k, repeated) -> None:
    draw = np.random.default_rng(seed)
    vectors = unit(draw.standard_normal((n, width)))
    if repeated:  # many equal vectors, so that ties cross the last place
        vectors = vectors[draw.integers(0, min(n, 3), n)]
    query = unit(draw.standard_normal((1, width)))
    exact = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    expected = sorted(range(n), key=lambda row: (-exact[row], row))[:k]
    (ranking,) = index_in(vectors).search(query, k)
    assert (ranking.passage_ids - 1).tolist() == expected
    assert ranking.scores.tolist() == exact[expected].tolist()


GOOD = np.eye(3, 4, dtype=np.float32)


def with_row(*row):
    matrix = GOOD.copy()
    matrix[1] = row
    return matrix


BAD = {
    "nan": with_row(np.nan, 0, 0, 1),
    "infinite": with_row(np.inf, 0, 0, 0),
    "zero": with_row(0, 0, 0, 0),
    "too long": with_row(1.0011, 0, 0, 0),
    "float64": GOOD.astype(np.float64),
    "narrow": np.ascontiguousarray(GOOD[:, :3]),
    "flat": GOOD[0],
    "too few": GOOD[:2],
}


@pytest.fixture
def encoded(corpus_of):
    corpus = corpus_of({"a": ["one", "two", "three"], "b": ["four"]})
    with corpus.store.writer() as writer:
        writer.put_vectors("m", [4], GOOD[:1])
        writer.commit()
    return corpus


@pytest.mark.parametrize("kind", BAD)
def test_bad_vectors_are_refused_and_nothing_changes(encoded, kind) -> None:
    before = encoded.store.commit_digest()
    with encoded.store.writer() as writer:
        with pytest.raises(VectorRejected):
            writer.put_vectors("m", [1, 2, 3], BAD[kind])
        assert writer.commit() == 2
    assert encoded.store.commit_digest() == before
    assert encoded.store.verify() == []


@pytest.mark.parametrize("kind", [kind for kind in BAD if kind != "too few"])
def test_bad_questions_are_refused(encoded, kind) -> None:
    with encoded.snapshot() as snapshot, pytest.raises(VectorRejected):
        snapshot.vectors("m").search(BAD[kind], 2)
