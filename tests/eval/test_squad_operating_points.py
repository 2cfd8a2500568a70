"""Averages at a threshold and at the best ones, against the official figures and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.squad import question_scores_v2, score_v2
from spanwise.eval.squad_na_probability import score_v2_with_na
from spanwise.eval.squad_operating_points import answer_vs_no_answer, best_operating_points, operating_point

GOLDS = {"q0": ["Ada Rook"], "q1": ["Ute Falk"], "n0": [], "n1": []}
SPANS = {"q0": "Ada Rook", "q1": "Ute", "n0": "the mill", "n1": ""}
NA = {"q0": 0.1, "q1": 0.6, "n0": 0.8, "n1": 1.0}


def test_everything_is_declined_at_zero_and_nothing_at_one() -> None:
    none, all_ = (operating_point(GOLDS, SPANS, NA, threshold) for threshold in (0.0, 1.0))
    assert (none["HasAns_f1"], none["NoAns_f1"], none["AvNA"]) == (0, 100, 50)
    assert (all_["HasAns_exact"], all_["NoAns_exact"], all_["AvNA"]) == (50, 50, 75)


def test_a_span_that_is_part_of_a_gold_is_rightly_answered() -> None:
    assert answer_vs_no_answer(GOLDS, {"q1": False, "n1": True}) == 100
    with pytest.raises(ValueError, match="no questions"):
        answer_vs_no_answer(GOLDS, {})


def test_the_best_points_reach_what_the_official_script_says() -> None:
    official, found = score_v2_with_na(GOLDS, SPANS, NA), best_operating_points(GOLDS, SPANS, NA)
    for name in ("exact", "f1"):
        point = found[f"at_best_{name}"]
        assert point["threshold"] == official[f"best_{name}_thresh"]
        assert point[name] == pytest.approx(official[f"best_{name}"])


def test_declining_is_the_empty_prediction() -> None:
    predicted = {qid: "" if NA[qid] > 0.5 else text for qid, text in SPANS.items()}
    point = operating_point(GOLDS, SPANS, NA, 0.5)
    assert {name: point[name] for name in score_v2(GOLDS, predicted)} == score_v2(GOLDS, predicted)


def test_a_missing_probability_is_named() -> None:
    with pytest.raises(ValueError, match="'q1' has no no-answer probability"):
        best_operating_points(GOLDS, SPANS, {"q0": 0.1, "n0": 0.1, "n1": 0.1})


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4, unique=True), st.floats(0, 1))
def test_no_threshold_is_better_than_the_best(probabilities: list[float], threshold: float) -> None:
    na = dict(zip(GOLDS, probabilities, strict=True))
    found = best_operating_points(GOLDS, SPANS, na)
    other = operating_point(GOLDS, SPANS, na, threshold)
    assert question_scores_v2(GOLDS, SPANS)[0].keys() == GOLDS.keys()
    assert all(other[name] <= found[f"at_best_{name}"][name] + 1e-9 for name in ("exact", "f1"))
