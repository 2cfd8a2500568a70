from __future__ import annotations

import math

import pytest

from spanwise.eval.squad_na_probability import best_threshold, na_probability, score_v2_with_na

GOLDS = {"has": ["Hawaii"], "none": [], "missed": ["1887"]}
PREDICTIONS = {"has": "Hawaii", "none": "Paris", "missed": "1990"}
NA = {"has": 0.1, "none": 0.8, "missed": 0.5}


def test_threshold_declines_what_lies_above_it() -> None:
    result = score_v2_with_na(GOLDS, PREDICTIONS, NA, threshold=0.5)
    assert (result["HasAns_exact"], result["NoAns_exact"]) == (50, 100)


def test_best_threshold_is_the_smallest_that_reaches_the_best() -> None:
    assert best_threshold(GOLDS, PREDICTIONS, {"has": 1, "none": 0, "missed": 0}, NA) == (200 / 3, 0.1)


def test_best_threshold_counts_questions_without_a_score_nowhere() -> None:
    assert best_threshold(GOLDS, PREDICTIONS, {"has": 1.0}, NA) == (100, 0.1)


def test_declining_everything_is_best_when_every_answer_is_wrong() -> None:
    result = score_v2_with_na(GOLDS, dict.fromkeys(GOLDS, "x"), NA)
    assert (result["exact"], result["best_exact"], result["best_exact_thresh"]) == (0, 100 / 3, 0)


def test_the_added_keys_stand_in_the_official_order() -> None:
    added = "best_exact best_exact_thresh best_f1 best_f1_thresh pr_exact_ap pr_f1_ap pr_oracle_ap"
    assert list(score_v2_with_na(GOLDS, PREDICTIONS, NA))[9:] == added.split()


def test_the_best_figures_do_not_depend_on_the_threshold() -> None:
    low, high = (score_v2_with_na(GOLDS, PREDICTIONS, NA, threshold) for threshold in (0.6, 1.0))
    assert low["exact"] != high["exact"]
    assert {key: low[key] for key in list(low)[9:]} == {key: high[key] for key in list(low)[9:]}


@pytest.mark.parametrize(("margin", "probability"), [(0, 0.5), (800, 0), (-800, 1), (math.log(3), 0.25)])
def test_probability_is_the_sigmoid_of_the_null_odds(margin: float, probability: float) -> None:
    assert na_probability(margin) == pytest.approx(probability)


def test_missing_probability_is_an_error() -> None:
    with pytest.raises(ValueError, match="'none' has no no-answer probability"):
        score_v2_with_na(GOLDS, PREDICTIONS, {"has": 0.1})
