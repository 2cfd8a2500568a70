from __future__ import annotations

import itertools
import math
import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.calibration.risk_coverage import (
    aurc,
    coverage_at_risk,
    credit_at_coverage,
    excess_aurc,
    risk_coverage_curve,
)

confidence = st.floats(0, 1) | st.integers(0, 4).map(lambda i: i / 4)
answers = st.lists(st.tuples(confidence, st.sampled_from([0.0, 0.5, 1.0])), min_size=1)


def area_in_this_order(credit: tuple[float, ...]) -> float:
    return fmean(1 - fmean(credit[:k]) for k in range(1, len(credit) + 1))


def test_points_stand_where_a_threshold_can_cut() -> None:
    curve = risk_coverage_curve([0.2, 0.9, 0.6, 0.9], [0, 1, 1, 0])
    assert [(p.threshold, p.coverage, round(p.risk, 6)) for p in curve] == [
        (0.9, 0.5, 0.5),
        (0.6, 0.75, 0.333333),
        (0.2, 1.0, 0.5),
    ]


@given(st.permutations([(0.9, 1.0), (0.9, 0.0), (0.9, 0.5), (0.3, 1.0), (0.3, 0.0)]))
def test_area_of_ties_is_the_mean_over_their_orders(found: list[tuple[float, float]]) -> None:
    orders = itertools.product(itertools.permutations([1.0, 0.0, 0.5]), itertools.permutations([1.0, 0.0]))
    expected = fmean(area_in_this_order(first + second) for first, second in orders)
    assert aurc(*zip(*found, strict=True)) == pytest.approx(expected, abs=1e-12)


@given(answers, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order(found: list[tuple[float, float]], order: random.Random) -> None:
    shuffled = order.sample(found, len(found))
    for measure in (risk_coverage_curve, aurc, excess_aurc):
        assert measure(*zip(*found, strict=True)) == measure(*zip(*shuffled, strict=True))


@given(st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=1, max_size=30))
def test_area_without_ties_is_the_plain_mean(credit: list[float]) -> None:
    confidences = [1 - i / 100 for i in range(len(credit))]
    assert aurc(confidences, credit) == pytest.approx(area_in_this_order(tuple(credit)), abs=1e-12)


@given(answers)
def test_only_the_best_order_has_no_excess(found: list[tuple[float, float]]) -> None:
    confidences, credit = zip(*found, strict=True)
    assert 0 <= excess_aurc(confidences, credit) <= aurc(confidences, credit) <= 1
    best = sorted(credit, reverse=True)
    assert excess_aurc([1 - i / 1000 for i in range(len(best))], best) == pytest.approx(0, abs=1e-12)


def test_all_right_and_all_wrong() -> None:
    assert (aurc([0.1, 0.2], [1, 1]), aurc([0.1, 0.2], [0, 0])) == (0, 1)
    assert excess_aurc([0.1, 0.2], [0, 0]) == 0


@pytest.mark.parametrize(("risk", "coverage"), [(0, 0.25), (0.3, 0.25), (0.34, 0.75), (0.5, 1), (1, 1)])
def test_coverage_at_a_risk_is_the_largest(risk: float, coverage: float) -> None:
    assert coverage_at_risk([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0], risk) == coverage


def test_a_risk_that_no_threshold_keeps_covers_nothing() -> None:
    assert coverage_at_risk([0.9, 0.9], [1, 0], risk=0.4) == 0


@pytest.mark.parametrize(
    ("confidences", "credit", "message"),
    [
        ([], [], "no forecasts"),
        ([math.nan], [1], "confidence 0 is nan"),
        ([0.5, 2.0], [1, 1], r"confidence 1 is 2\.0"),
        ([0.5], [1.5], r"outcome 0 is 1\.5"),
        ([0.5], [math.nan], "outcome 0 is nan"),
        ([0.5], [], "1 confidences for 0 outcomes"),
    ],
)
def test_what_is_no_answer_is_refused(confidences: list[float], credit: list[float], message: str) -> None:
    for measure in (risk_coverage_curve, aurc, excess_aurc):
        with pytest.raises(ValueError, match=message):
            measure(confidences, credit)


@pytest.mark.parametrize("risk", [-0.1, 1.1, math.nan])
def test_a_risk_outside_its_range_is_refused(risk: float) -> None:
    with pytest.raises(ValueError, match="risk is"):
        coverage_at_risk([0.5], [1], risk)


def test_credit_at_coverage_by_hand() -> None:
    confidences, credit = [0.9, 0.7, 0.7, 0.1], [1, 1, 0, 0]
    found = [credit_at_coverage(confidences, credit, coverage) for coverage in (0.25, 0.5, 0.75, 1)]
    assert found == pytest.approx([1, 3 / 4, 2 / 3, 1 / 2])


@pytest.mark.parametrize("coverage", [0, 1.01, -1])
def test_an_impossible_coverage_is_refused(coverage: float) -> None:
    with pytest.raises(ValueError, match="coverage is"):
        credit_at_coverage([0.5], [1], coverage)
