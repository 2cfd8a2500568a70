"""When codes are made, kept, added to and made anew."""

from __future__ import annotations

import numpy as np
import pytest
from made_vectors import collection, stored_of

from spanwise.index import approximation, tuning
from spanwise.index.approximation import renewed
from spanwise.index.faiss_scan import FaissScan
from spanwise.index.proposer import Proposer, coded_rows
from spanwise.index.tuning import held_back

VECTORS = collection(3200, 16)


@pytest.fixture(scope="module")
def first():
    return renewed(stored_of(VECTORS[:1500]))


def test_a_few_new_and_a_few_deleted_passages_change_nothing(first) -> None:
    assert renewed(stored_of(VECTORS[:1550], deleted=np.arange(1, 200)), first) is None


def test_many_new_passages_are_coded_with_the_quantizer_there_is(first) -> None:
    second = renewed(stored_of(VECTORS[:1500], VECTORS[1500:1700]), first)
    assert sorted(second.passage_ids.tolist()) == list(range(1, 1701))
    assert second.quantizer is first.quantizer
    assert second.trained_on == 1500
    lists, codes = first.quantizer.encode(VECTORS[:1700])
    places = second.passage_ids - 1
    assert np.array_equal(second.codes, codes[places])
    assert np.searchsorted(second.ends, np.arange(1700), side="right").tolist() == lists[places].tolist()


def test_codes_of_many_that_are_gone_are_dropped(first) -> None:
    second = renewed(stored_of(VECTORS[:1500], deleted=np.arange(1, 500)), first)
    assert sorted(second.passage_ids.tolist()) == list(range(500, 1501))


def test_a_collection_that_has_doubled_is_trained_anew(first) -> None:
    second = renewed(stored_of(VECTORS[:3000]), first)
    assert second.trained_on == 3000
    assert second.quantizer is not first.quantizer


def test_another_recall_tunes_anew(first) -> None:
    second = renewed(stored_of(VECTORS[:1500]), first, wanted=0.6)
    assert second.quantizer is first.quantizer
    assert second.tuning.wanted == 0.6
    assert second.tuning.n_lists < first.tuning.n_lists


def test_codes_of_another_width_are_made_anew(first) -> None:
    second = renewed(stored_of(collection(1500, 24)), first)
    assert second.codes.shape == (1500, 6)


def test_a_width_that_codes_cannot_cut_has_none() -> None:
    assert renewed(stored_of(collection(100, 10))) is None


def test_progress_is_told(monkeypatch) -> None:
    monkeypatch.setattr(approximation, "_BLOCK", 400)
    told = []
    renewed(stored_of(VECTORS[:1000]), report=lambda *step: told.append(step))
    assert told == [(400, 1000), (800, 1000), (1000, 1000)]


def test_held_back_queries_are_unit_and_stand_apart() -> None:
    stored = stored_of(VECTORS)
    queries = held_back(stored)
    assert np.linalg.norm(queries, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(queries, held_back(stored))
    assert (queries @ VECTORS.T).max(axis=1).mean() < 0.95


def test_equal_vectors_make_no_zero_query() -> None:
    same = np.repeat(collection(1, 16), 50, axis=0)
    assert np.isfinite(held_back(stored_of(same, -same))).all()


@pytest.mark.parametrize("wanted", [0.5, 0.9, 0.98])
def test_the_tuned_search_finds_what_it_says(first, wanted) -> None:
    stored = stored_of(VECTORS[:1500])
    proposer = Proposer.load(first, coded_rows(stored, first))
    said = tuning.tune(stored, proposer, len(first.ends), wanted)
    assert wanted < said.recall <= 1
    queries = held_back(stored)
    truth = FaissScan(stored).nearest(queries, 10).rows
    found = proposer.rows(queries, said.n_lists, said.candidates)
    hits = sum(np.isin(right, rows).sum() for rows, right in zip(found, truth, strict=True))
    assert hits / truth.size == pytest.approx(said.recall, abs=0.01)  # codes tie


def test_a_recall_out_of_reach_looks_into_every_list(first, monkeypatch) -> None:
    monkeypatch.setattr(tuning, "_CANDIDATES", (10, 12))
    stored = stored_of(VECTORS[:1500])
    proposer = Proposer.load(first, coded_rows(stored, first))
    found = tuning.tune(stored, proposer, len(first.ends), 0.98)
    assert (found.n_lists, found.candidates) == (len(first.ends), 12)
    assert found.recall < 0.98
