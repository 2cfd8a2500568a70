"""When the first passages are enough, fitted on made-up questions of which all passages were read."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.pipelines.training.calibrate import Observed
from spanwise.pipelines.calibration.fit import cross_fit
from spanwise.pipelines.calibration.stopping import as_read, fit_stopping, shortened
from spanwise.reader.evidence import Calibration, Features

BY_MARGIN = Calibration({"margin": 1.0}, 1.0, 0.0, 0.0, "", "")
K = 20


def question(first: float, later: float, group: str = "", right: bool = True) -> Observed:
    """A candidate in the first passage and one in the last, by their margins; they say different things."""
    pair = Features(first, 0, 0, 0, 0), Features(later, math.log(K), 0, 0, 0)
    return Observed(pair, (float(right), float(not right)), True, (0, 1), group)


def fitted(observed):
    return fit_stopping(observed, [BY_MARGIN] * len(observed))


def test_the_least_margin_is_taken_by_which_one_in_a_hundred_changes():
    """Of 200 questions two may change: those at 50 and at 40, not the one at 30 as well."""
    changing = {50, 40, 30}
    rule = fitted([question(at, at + 1 if at in changing else at - 1) for at in range(200)])
    assert (rule.margin, rule.changed) == (31, 2 / 200)
    assert (rule.first, rule.of) == (4, K)
    assert rule.unread == pytest.approx((200 - 31) / 200 * 16 / K)


def test_of_equal_margins_all_are_enough_or_none():
    observed = [question(5, 4)] * 50 + [question(3, 9)] + [question(3, 2)] * 49
    assert fitted(observed).margin == 3
    assert fitted([*observed, question(3, 9)]).margin == 5


def test_candidates_that_say_the_same_are_no_change():
    same = [replace(question(1, 2), said=(0, 0))] * 100
    assert fitted(same).changed == 0
    assert fitted([replace(one, said=()) for one in same]) is None


def test_a_larger_first_part_is_taken_where_it_leaves_more_unread():
    """What decides stands at rank 8: after four passages no margin is safe, after eight all are."""
    ranked = [Features(margin, math.log(rank), 0, 0, 0) for margin, rank in ((1, 1), (5, 8), (0, K))]
    rule = fitted([Observed(tuple(ranked), (0.0, 1.0, 0.0), True, (0, 1, 2), "")] * 100)
    assert (rule.first, rule.margin) == (8, 5)


def test_there_is_no_rule_without_anything_to_leave_unread():
    assert fitted([]) is None
    assert fitted([Observed((), (), False)] * 20) is None
    assert fitted([Observed((Features(5, 0, 0, 0, 0),), (1.0,), True)] * 20) is None


SCORES = st.lists(st.lists(st.integers(-6, 6), min_size=1, max_size=3), min_size=K, max_size=K)


@given(SCORES, st.integers(1, K))
def test_shares_of_the_first_passages_are_those_of_reading_them_alone(scores, first):
    """Every span is the candidate of a sentence of its own; null scores are 0."""
    part = shortened(observed_of(scores), first)
    expected = observed_of(scores[:first])
    for found, wanted in zip(part.features, expected.features, strict=True):
        assert found.log_share == pytest.approx(wanted.log_share, abs=1e-6)
        assert found.agreement == pytest.approx(wanted.agreement, abs=1e-6)
        assert found.agreeing == pytest.approx(wanted.agreeing, abs=1e-6)
    assert (part.said, part.f1) == (expected.said, expected.f1)


def observed_of(scores) -> Observed:
    """The passages' spans with all that compares them; equal scores say the same."""
    rows = [(score, rank) for rank, row in enumerate(scores, 1) for score in row]
    whole = math.fsum([*(math.exp(score) for score, _ in rows), *(1.0 for _ in scores)])
    alike = {score: [math.exp(other) / whole for other, _ in rows if other == score] for score, _ in rows}
    features = tuple(
        Features(
            score,
            math.log(rank),
            *(0.0, 0.0, 0.0),
            log_share=score - math.log(whole),
            agreement=math.fsum(alike[score][1:]),
            agreeing=math.log1p(len(alike[score]) - 1),
        )
        for score, rank in rows
    )
    return Observed(features, (0.0,) * len(rows), True, tuple(score for score, _ in rows))


def test_only_where_it_stops_is_less_observed():
    rule = fitted([question(at, at - 1) for at in range(100)])
    high, low = question(rule.margin, 0), question(rule.margin - 1, 0)
    assert as_read(high, rule) == shortened(high, rule.first)
    assert (as_read(low, rule), as_read(high, None)) == (low, high)


def made_up() -> list[Observed]:
    """The greater the margin, the more of ten are right; later passages win where it is small."""
    return [
        question(float(at % 10), 2.5, f"paragraph {at // 2}", right=at * 7 % 10 < at % 10)
        for at in range(400)
    ]


def test_the_rule_is_fitted_out_of_fold_and_kept_in_the_calibration():
    calibration = cross_fit(made_up(), "r", "made-up questions", ["margin"]).calibration
    assert (calibration.stopping.margin, calibration.stopping.changed) == (3, 0)


def test_a_reader_that_cannot_stop_gets_no_rule():
    assert cross_fit(made_up(), "r", "", ["margin"], stops=False).calibration.stopping is None
