"""The figures of a run: which queries count, and what is refused."""

from __future__ import annotations

import math

import pytest

from spanwise.eval.ranking.evaluate import evaluate
from spanwise.eval.ranking.measures import parse_measures

MEASURES = parse_measures("RR P@1 nDCG@10 Judged@10")


def test_a_judged_query_that_was_not_run_counts_as_zero() -> None:
    found = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, MEASURES)
    assert found.per_query["q2"] == dict.fromkeys(["RR", "P@1", "nDCG@10", "Judged@10"], 0.0)
    assert found.mean["RR"] == 0.5


def test_a_query_without_relevant_documents_counts_as_zero() -> None:
    assert (
        evaluate({"q1": {"a": 1}, "q2": {"a": 0}}, {"q1": {"a": 1}, "q2": {"a": 1}}, MEASURES).mean["RR"]
        == 0.5
    )


def test_a_query_without_judgements_is_passed_over() -> None:
    found = evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q9": {"a": 1.0}}, MEASURES)
    assert list(found.per_query) == ["q1"]
    assert found.mean["RR"] == 1.0


def test_queries_keep_the_order_of_the_judgements() -> None:
    assert list(evaluate({"q2": {"a": 1}, "q1": {"a": 1}}, {}, MEASURES).per_query) == ["q2", "q1"]


def test_a_tie_counts_for_rr_as_in_trec_eval_and_for_rr_at_k_as_at_ms_marco() -> None:
    found = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, parse_measures("RR RR@10"))
    assert found.mean == {"RR": 0.5, "RR@10": 1.0}


def test_a_score_that_is_no_number_is_refused_with_its_query() -> None:
    with pytest.raises(ValueError, match="query 'q1': the score of document 'a' is nan"):
        evaluate({"q1": {"a": 1}}, {"q1": {"a": math.nan}}, MEASURES)


def test_without_judgements_there_is_no_mean() -> None:
    with pytest.raises(ValueError, match="no judged queries"):
        evaluate({}, {"q": {"a": 1.0}}, MEASURES)


def test_without_measures_there_is_nothing_to_say() -> None:
    with pytest.raises(ValueError, match="no measures"):
        evaluate({"q": {"a": 1}}, {}, [])
