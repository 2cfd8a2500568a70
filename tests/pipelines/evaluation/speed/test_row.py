"""Ratios go the same way in all units; a record has what is promised."""

from __future__ import annotations

import pytest

from spanwise.pipelines.evaluation.speed.comparisons import Comparison
from spanwise.pipelines.evaluation.speed.row import Measured, Row, overlap


def row(unit, ours, peer, **quality):
    comparison = Comparison("name", "search", unit, "about")
    return Row(
        comparison, "peer", Measured(ours, 1, 1), Measured(peer, **{"overlap": 1, "recall": 1, **quality})
    )


@pytest.mark.parametrize("unit", ["ms/question", "s"])
def test_less_time_is_faster(unit):
    assert row(unit, (1.0, 2.0, 9.0), (4.0, 4.0, 4.0)).ratio == 2


def test_more_passages_a_second_are_faster():
    assert row("passages/s", (300.0,), (100.0,)).ratio == 3


def test_rounds_are_paired():
    assert row("s", (1.0, 2.0), (2.0, 2.0)).ratios == (2, 1)


def test_the_record_has_the_six_keys():
    record = row("s", (0.123456,), (0.5,)).record()
    assert record == {
        "name": "name",
        "ours": 0.1235,
        "peer": 0.5,
        "peer_name": "peer",
        "unit": "s",
        "ratio": 4.05,
    }


def test_the_full_record_has_the_spread():
    record = row("s", (1.0, 2.0, 3.0), (2.0, 2.0, 3.0)).full_record()
    assert (record["ratio_min"], record["ratio_max"]) == (1, 2)
    assert record["ours_measured"] == {"median": 2, "min": 1, "max": 3, "overlap": 1, "recall": 1}


@pytest.mark.parametrize("quality", [{"recall": 0.5}, {"overlap": 0.1}])
def test_other_results_are_doubted(quality):
    assert row("s", (1.0,), (1.0,), **quality).doubt
    assert not row("s", (1.0,), (1.0,)).doubt


@pytest.mark.parametrize(
    ("ours", "found", "share"),
    [([[1, 2]], [[2, 1]], 1), ([[1, 2]], [[3]], 0), ([[]], [[]], 1), ([[]], [[1]], 0), ([[1]], [[]], 0)],
)
def test_overlap_is_the_share_of_ours_that_was_found(ours, found, share):
    assert overlap(ours, found) == share
