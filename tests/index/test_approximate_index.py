from __future__ import annotations

import numpy as np
import pytest
from made_vectors import NOBODY, collection, exact_ids, places, stored_of

from spanwise.errors import VectorRejected
from spanwise.index import approximate_index
from spanwise.index.approximate_index import ApproximateIndex
from spanwise.index.approximation import renewed

VECTORS = collection(6000)
QUERIES = collection(60, seed=1)


@pytest.fixture(scope="module")
def codes():
    return renewed(stored_of(VECTORS[:5000]))


def index_of(codes, deleted=NOBODY, n=5000):
    return ApproximateIndex.build(stored_of(VECTORS[:2000], VECTORS[2000:n], deleted=deleted), codes, places)


def recall(rankings, queries, k, allowed=None) -> float:
    pairs = zip(rankings, queries, strict=True)
    hits = sum(len(set(r.passage_ids.tolist()) & set(exact_ids(VECTORS, q, k, allowed))) for r, q in pairs)
    return hits / (k * len(queries))


@pytest.mark.parametrize("n_queries", [4, 60])
def test_it_finds_the_wanted_share_of_the_exact_top_ten(codes, n_queries) -> None:
    allowed = np.arange(1, 5001)
    rankings = index_of(codes).search(QUERIES[:n_queries], 10)
    assert recall(rankings, QUERIES[:n_queries], 10, allowed) >= 0.95


def test_scores_are_those_of_the_exact_search(codes) -> None:
    for ranking, query in zip(index_of(codes).search(QUERIES, 10), QUERIES, strict=True):
        exact = (VECTORS[ranking.passage_ids - 1].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
        assert ranking.scores.tolist() == exact.tolist()
        assert ranking.scores.tolist() == sorted(ranking.scores, reverse=True)
        assert len(set(ranking.passage_ids.tolist())) == 10


def test_deleted_passages_are_not_found(codes) -> None:
    deleted = np.arange(2, 5000, 3)
    allowed = np.setdiff1d(np.arange(1, 5001), deleted)
    rankings = index_of(codes, deleted).search(QUERIES, 10)
    assert not np.isin(np.concatenate([r.passage_ids for r in rankings]), deleted).any()
    assert recall(rankings, QUERIES, 10, allowed) >= 0.95


def test_passages_without_a_code_are_found(codes) -> None:
    index = index_of(codes, n=6000)
    assert (len(index), index.n_uncoded) == (6000, 1000)
    for number in (5001, 5500, 6000):
        (ranking,) = index.search(VECTORS[number - 1 : number], 3)
        assert ranking.passage_ids[0] == number


def test_a_passage_whose_vector_is_another_has_no_code(codes) -> None:
    other = VECTORS.copy()
    other[17] = VECTORS[5999]
    index = ApproximateIndex.build(stored_of(other[:5000]), codes, places)
    assert index.n_uncoded == 1
    (ranking,) = index.search(VECTORS[5999:], 1)
    assert ranking.passage_ids.tolist() == [18]


@pytest.mark.parametrize("few", [0, 4096])
@pytest.mark.parametrize("among", [np.arange(3, 6001, 30), np.arange(2500, 5800), np.array([9999])])
def test_a_search_is_confined_to_the_passages_named(codes, among, few, monkeypatch) -> None:
    monkeypatch.setattr(approximate_index, "_FEW", few)
    rankings = index_of(codes, n=6000).search(QUERIES, 10, among)
    assert all(np.isin(ranking.passage_ids, among).all() for ranking in rankings)
    assert among[0] == 9999 or recall(rankings, QUERIES, 10, among) >= (1.0 if few else 0.95)


def test_more_than_were_tuned_for_can_be_asked(codes) -> None:
    rankings = index_of(codes).search(QUERIES, 100)
    assert all(len(ranking.scores) == 100 for ranking in rankings)
    assert recall(rankings, QUERIES, 100, np.arange(1, 5001)) >= 0.9


def test_what_is_no_unit_vector_or_k_is_refused(codes) -> None:
    with pytest.raises(VectorRejected, match="NaN"):
        index_of(codes).search(np.full((1, 32), np.nan, np.float32), 3)
    with pytest.raises(ValueError, match="k must be at least 1"):
        index_of(codes).search(QUERIES, 0)
    assert index_of(codes).search(QUERIES[:0], 3) == []
