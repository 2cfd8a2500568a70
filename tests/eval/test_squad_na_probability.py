from __future__ import annotations

import pytest

from spanwise.eval.squad_na_probability import best_threshold, score_v2_with_na

GOLDS = {"has": ["Hawaii"], "none": [], "missed": ["1887"]}
PREDICTIONS = {"has": "Hawaii", "none": "Paris", "missed": "1990"}
NA = {"has": 0.1, "none": 0.8, "missed": 0.5}


def test_threshold_declines_what_lies_above_it() -> None:
    result = score_v2_with_na(GOLDS, PREDICTIONS, NA, threshold=0.5)
    assert (result["HasAns_exact"], result["NoAns_exact"]) == (50, 100)


def test_best_threshold_is_the_smallest_that_reaches_the_best() -> None:
    assert best_threshold(GOLDS, PREDICTIONS, {"has": 1, "none": 0, "missed": 0}, NA) == (200 / 3, 0.1)


def test_best_threshold_skips_ids_without_a_score() -> None:
    assert best_threshold(GOLDS, PREDICTIONS, {"has": 1.0}, NA) == (200, 0.1)


def test_declining_everything_is_best_when_every_answer_is_wrong() -> None:
    result = score_v2_with_na(GOLDS, dict.fromkeys(GOLDS, "x"), NA)
    assert (result["exact"], result["best_exact"], result["best_exact_thresh"]) == (0, 100 / 3, 0)


def test_missing_probability_is_an_error() -> None:
    with pytest.raises(ValueError, match="'none' has no no-answer probability"):
        score_v2_with_na(GOLDS, PREDICTIONS, {"has": 0.1})
