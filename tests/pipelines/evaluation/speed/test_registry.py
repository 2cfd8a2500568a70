"""Every comparison has exactly one engine of ours, and peers that can be told apart."""

from __future__ import annotations

from collections import Counter

import pytest
import stub_engines as stubs

from spanwise.pipelines.evaluation.speed.comparisons import COMPARISONS, chosen
from spanwise.pipelines.evaluation.speed.registry import all_entrants, entrant, versions


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda one: one.name)
def test_ours_and_at_least_one_peer_take_part(comparison):
    names = Counter(one.name for one in all_entrants() if comparison.name in one.comparisons)
    assert names["spanwise"] == 1
    assert len(names) >= 2
    assert set(names.values()) == {1}


def test_engines_take_part_only_in_comparisons_that_there_are():
    assert {name for one in all_entrants() for name in one.comparisons} == {c.name for c in COMPARISONS}


def test_an_unknown_comparison_lists_the_names():
    with pytest.raises(ValueError, match=r"'bm42', expected one of: bm25-index, bm25-search"):
        chosen(["bm25-search", "bm42"])


def test_chosen_comparisons_keep_their_order():
    assert [c.name for c in chosen(["dense-kernel", "bm25-index"])] == ["bm25-index", "dense-kernel"]
    assert chosen([]) == COMPARISONS


def test_what_is_missing_is_named():
    assert entrant(stubs.Absent).missing == ["no-such-distribution"]
    assert versions([entrant(stubs.Absent)]) == {}
