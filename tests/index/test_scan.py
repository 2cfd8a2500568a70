"""What every scan promises: FAISS on the CPU, and torch, whose device "cpu" stands in for a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from made_vectors import collection, exact_ids, places, stored_of, unit

from spanwise.index import stored_vectors, vector_index
from spanwise.index.faiss_library import MANY, faiss
from spanwise.index.faiss_scan import FaissScan
from spanwise.index.scan import Nearest, merge
from spanwise.index.torch_scan import TorchScan
from spanwise.index.vector_index import VectorIndex

VECTORS = collection(700, 24)
QUERIES = collection(40, 24, seed=1)


@pytest.fixture(params=["faiss", "torch"])
def scan_of(request, monkeypatch):
    """Makes a scan that works in small blocks, and an index that scans however few vectors there are."""
    monkeypatch.setattr(stored_vectors, "BLOCK", 100)
    monkeypatch.setattr(vector_index, "_FEW", 0)
    return FaissScan if request.param == "faiss" else lambda stored: TorchScan.load(stored, "cpu")


@pytest.mark.parametrize("n_queries", [1, MANY - 1, MANY, 40])
def test_scores_are_as_near_as_the_slack_says(scan_of, n_queries) -> None:
    stored = stored_of(VECTORS[:300], VECTORS[300:])
    found = scan_of(stored).nearest(QUERIES[:n_queries], 30)
    exact = np.einsum(
        "qnw,qw->qn", stored.gather(found.rows.ravel()).reshape(n_queries, 30, 24), QUERIES[:n_queries]
    )
    assert np.abs(found.scores - exact).max() <= found.slack
    assert (np.diff(found.scores, axis=1) <= 0).all()


@pytest.mark.parametrize("n_queries", [3, 40])
@pytest.mark.parametrize("k", [1, 9, 200])
def test_the_ranking_is_exact(scan_of, n_queries, k) -> None:
    stored = stored_of(VECTORS[:300], VECTORS[300:])
    rankings = VectorIndex(stored, scan_of(stored), places).search(QUERIES[:n_queries], k)
    assert [r.passage_ids.tolist() for r in rankings] == [
        exact_ids(VECTORS, q, k) for q in QUERIES[:n_queries]
    ]


@pytest.mark.parametrize("n_queries", [3, 40])
def test_a_search_confined_to_passages_is_exact(scan_of, n_queries) -> None:
    stored = stored_of(VECTORS[:300], VECTORS[300:])
    among = np.array([1, 2, 3, *range(250, 320, 7), 700])
    rankings = VectorIndex(stored, scan_of(stored), places).search(QUERIES[:n_queries], 12, among)
    expected = [exact_ids(VECTORS, query, 12, among) for query in QUERIES[:n_queries]]
    assert [ranking.passage_ids.tolist() for ranking in rankings] == expected


def test_near_ties_widen_the_search(scan_of) -> None:
    near = unit(np.ones((400, 24)) + 1e-5 * np.random.default_rng(2).standard_normal((400, 24)))
    stored = stored_of(near)
    query = unit(np.ones((1, 24)))
    (ranking,) = VectorIndex(stored, scan_of(stored), places).search(query, 5)
    assert ranking.passage_ids.tolist() == exact_ids(near, query[0], 5)


def test_no_passage_allowed_nothing_found(scan_of) -> None:
    stored = stored_of(VECTORS)
    for n_queries in (2, 40):
        rankings = VectorIndex(stored, scan_of(stored), places).search(
            QUERIES[:n_queries], 3, np.array([9999])
        )
        assert [len(ranking.scores) for ranking in rankings] == [0] * n_queries


def test_settings_of_faiss_stay_as_they_were() -> None:
    before = faiss().cvar.distance_compute_blas_threshold, faiss().omp_get_max_threads()
    for n_queries in (1, 40):
        FaissScan(stored_of(VECTORS)).nearest(QUERIES[:n_queries], 3)
    assert (faiss().cvar.distance_compute_blas_threshold, faiss().omp_get_max_threads()) == before


def test_proposals_are_merged_by_score() -> None:
    one = Nearest(np.array([[0.9, 0.1]], np.float32), np.array([[4, 5]]), 0.1)
    other = Nearest(np.array([[0.5, 0.2]], np.float32), np.array([[8, 9]]), 0.2)
    merged = merge(one, other, 3)
    assert (merged.rows.tolist(), merged.slack) == ([[4, 8, 9]], 0.2)
    assert merge(None, one, 3) is one
