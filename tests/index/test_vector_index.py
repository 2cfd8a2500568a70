from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import IndexEmpty, VectorRejected
from spanwise.index.segment import Segment
from spanwise.index.vector_index import VectorIndex
from spanwise.index.vectors import VectorSegment

NOBODY = np.empty(0, np.int64)


def unit(rows):
    matrix = np.array(rows, np.float64)
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


def index_of(*parts, deleted=NOBODY):
    """Segments of these vectors, with ids counted from 1; a passage's place is its id."""
    segments, first = [], 1
    for part in parts:
        columns = {"passage_ids": np.arange(first, first + len(part)), "vectors": part}
        segments.append(VectorSegment(Segment(Path("x"), "vectors", "m", columns, {}, b"")))
        first += len(part)
    return VectorIndex.build(segments, deleted, lambda ids: [("d", number, 0) for number in ids])


def test_l1_negative_scores_are_returned_in_order() -> None:
    cat, dog, mat = [0.2, 0.8, -0.3], [0.1, 0.7, -0.2], [-0.5, 0.1, 0.6]
    (ranking,) = index_of(unit([mat, dog, cat])).search(unit([cat]), 3)
    assert ranking.passage_ids.tolist() == [3, 2, 1]
    assert ranking.scores.tolist() == pytest.approx([1, 0.992516, -0.289460], abs=1e-6)


def test_l3_the_six_cosines() -> None:
    animals = unit([[0.3, 0.9, 0.6], [0.5, 0.8, 0.5], [0.1, 0.7, 0.8], [0.95, 0.4, 0.2]])
    rankings = index_of(animals).search(animals, 4)
    table = np.zeros((4, 4))
    for row, ranking in enumerate(rankings):
        table[row, ranking.passage_ids - 1] = ranking.scores
    expected = [0.976221, 0.951190, 0.649063, 0.885965, 0.798328, 0.477213]
    assert table[np.triu_indices(4, 1)] == pytest.approx(expected, abs=1e-6)


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 10**6), st.integers(1, 70), st.booleans())
def test_the_best_k_are_those_of_exact_arithmetic(n, width, seed, k, repeated) -> None:
    draw = np.random.default_rng(seed)
    vectors = unit(draw.standard_normal((n, width)))
    if repeated:  # many equal vectors, so that ties cross the last place
        vectors = vectors[draw.integers(0, min(n, 3), n)]
    query = unit(draw.standard_normal((1, width)))
    exact = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    expected = sorted(range(n), key=lambda row: (-exact[row], row))[:k]
    (ranking,) = index_of(vectors).search(query, k)
    assert (ranking.passage_ids - 1).tolist() == expected
    assert ranking.scores.tolist() == exact[expected].tolist()


def test_segments_and_deletions_do_not_change_a_score() -> None:
    vectors = unit(np.random.default_rng(5).standard_normal((300, 24)))
    queries = vectors[:40]
    deleted = np.arange(10, 300, 7)
    split = index_of(vectors[:3], vectors[3:200], vectors[200:], deleted=deleted).search(queries, 9)
    for one, other in zip(split, index_of(vectors, deleted=deleted).search(queries, 9), strict=True):
        assert one.passage_ids.tolist() == other.passage_ids.tolist()
        assert one.scores.tolist() == other.scores.tolist()
        assert not set(one.passage_ids.tolist()) & set(deleted.tolist())


def test_a_model_without_vectors_is_named(corpus_of) -> None:
    with corpus_of({"a": ["one"]}).snapshot() as snapshot, pytest.raises(IndexEmpty, match="model m"):
        snapshot.vectors("m")


def test_a_second_width_for_one_model_is_refused(corpus_of) -> None:
    corpus = corpus_of({"a": ["one", "two"]})
    with corpus.store.writer() as writer:
        writer.put_vectors("m", [1], np.eye(1, 4, dtype=np.float32))
        with pytest.raises(VectorRejected, match="width 4, not 3"):
            writer.put_vectors("m", [2], np.eye(1, 3, dtype=np.float32))
        assert writer.put_vectors("n", [2], np.eye(1, 3, dtype=np.float32)) == 1
