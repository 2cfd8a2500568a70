"""The order of documents: by score, and what happens to ties."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.ranking.order import msmarco_order, trec_order

ORDERS = [trec_order, msmarco_order]
SCORES = st.dictionaries(st.text(max_size=4), st.floats(allow_nan=False), max_size=12)


def test_ties_go_to_the_greater_id_in_trec_eval() -> None:
    assert trec_order({"a": 1, "c": 1, "b": 1, "d": 0.5}) == ["c", "b", "a", "d"]


def test_ties_go_to_the_smaller_id_at_ms_marco() -> None:
    assert msmarco_order({"a": 1, "c": 1, "b": 1, "d": 2}) == ["d", "a", "b", "c"]


def test_trec_eval_ties_what_is_equal_in_single_precision() -> None:
    close = {"a": 1.0 + 1e-9, "b": 1.0}
    assert trec_order(close) == ["b", "a"]
    assert msmarco_order(close) == ["a", "b"]


def test_scores_beyond_single_precision_tie_at_infinity() -> None:
    assert trec_order({"a": 1e200, "b": 1e39, "c": 1e38}) == ["b", "a", "c"]


def test_ids_compare_as_their_bytes() -> None:
    ids = ["\uff61", "\U0001f600", "z", "é", "Z"]
    assert trec_order(dict.fromkeys(ids, 1.0)) == sorted(ids, key=str.encode, reverse=True)


@pytest.mark.parametrize("order", ORDERS)
def test_a_score_that_is_no_number_is_refused(order: Callable[[dict[str, float]], list[str]]) -> None:
    with pytest.raises(ValueError, match="the score of document 'b' is nan"):
        order({"a": 1.0, "b": math.nan})


@given(SCORES)
def test_each_order_is_a_permutation_that_never_rises(scores: dict[str, float]) -> None:
    for order in ORDERS:
        ids = order(scores)
        assert sorted(ids) == sorted(scores)
        with np.errstate(over="ignore"):
            values = np.array([scores[name] for name in ids]).astype(np.float32)
        assert np.all(values[:-1] >= values[1:])


@given(SCORES, st.randoms())
def test_the_order_of_insertion_says_nothing(scores: dict[str, float], rng: random.Random) -> None:
    shuffled = list(scores.items())
    rng.shuffle(shuffled)
    for order in ORDERS:
        assert order(dict(shuffled)) == order(scores)
