"""Recall and reciprocal rank: hand-computed, against ir_measures, and their invariants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R

from spanwise.eval.recall import recall_at_k
from spanwise.eval.reciprocal_rank import reciprocal_rank

IDS = [f"d{number}" for number in range(12)]
RANKINGS = st.permutations(IDS).flatmap(lambda ids: st.integers(0, len(ids)).map(lambda n: ids[:n]))
RELEVANT = st.sets(st.sampled_from(IDS), min_size=1)


@pytest.mark.parametrize(("k", "recall"), [(1, 0.0), (2, 0.5), (3, 0.5), (4, 1.0), (9, 1.0)])
def test_recall_at_k_by_hand(k: int, recall: float) -> None:
    assert recall_at_k(["x", "a", "y", "b"], {"a", "b"}, k) == recall


def test_recall_counts_an_id_ranked_twice_once() -> None:
    assert recall_at_k(["a", "a"], {"a", "b"}, 2) == 0.5


@pytest.mark.parametrize(("k", "value"), [(None, 1 / 3), (3, 1 / 3), (2, 0.0)])
def test_reciprocal_rank_by_hand(k: int | None, value: float) -> None:
    assert reciprocal_rank(["x", "y", "a", "b"], {"a", "b"}, k) == value


def test_empty_ranking_finds_nothing() -> None:
    assert recall_at_k([], {"a"}, 5) == reciprocal_rank([], {"a"}) == 0.0


@given(RANKINGS, RELEVANT, st.integers(1, 15))
def test_equals_ir_measures(ranking: list[str], relevant: set[str], k: int) -> None:
    qrels = [ir_measures.Qrel("q", document, 1) for document in relevant]
    run = [ir_measures.ScoredDoc("q", document, float(-rank)) for rank, document in enumerate(ranking)]
    expected = ir_measures.calc_aggregate([R @ k, RR @ k], qrels, run)
    assert recall_at_k(ranking, relevant, k) == pytest.approx(expected[R @ k], abs=1e-9)
    assert reciprocal_rank(ranking, relevant, k) == pytest.approx(expected[RR @ k], abs=1e-9)


@given(RANKINGS, RELEVANT, st.integers(1, 15))
def test_neither_falls_as_k_grows(ranking: list[str], relevant: set[str], k: int) -> None:
    assert recall_at_k(ranking, relevant, k) <= recall_at_k(ranking, relevant, k + 1) <= 1
    assert reciprocal_rank(ranking, relevant, k) <= reciprocal_rank(ranking, relevant) <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recall_at_k(["a"], {"a"}, 0), "k is 0"),
        (lambda: reciprocal_rank(["a"], {"a"}, -1), "k is -1"),
        (lambda: recall_at_k(["a"], set(), 1), "no relevant ids"),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
