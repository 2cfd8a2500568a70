"""The first whole sentences of a document count more, and nothing else does."""

from __future__ import annotations

import math

import pytest

from spanwise.reader.summary.opening import opening_factors


def test_each_document_has_its_own_opening():
    found = opening_factors(["a", "a", "b", "b"], [0, 0, 5, 5], [True] * 4, 2.0)
    assert found.tolist() == [3.0, 2.0, 3.0, 2.0]


def test_fragments_and_later_passages_count_once():
    assert opening_factors(["a", "a"], [0, 20], [False, True], 1.0).tolist() == [1.0, 1.0]


def test_a_weight_of_zero_changes_nothing():
    assert opening_factors(["a"], [0], [True], 0.0).tolist() == [1.0]
    assert opening_factors([], [], [], 0.0).tolist() == []


@pytest.mark.parametrize("weight", [-1.0, math.inf, math.nan])
def test_no_weight_is_refused(weight):
    with pytest.raises(ValueError, match="weight is"):
        opening_factors(["a"], [0], [True], weight)
