"""The figures of an open-domain evaluation against records made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spanwise.eval.question_record import QuestionRecord
from spanwise.pipelines.evaluation.open_figures import CUTOFFS, open_figures

MS = {"retrieve": 2.0, "read": 10.0, "weigh": 4.0}


def ranked(name: str, rank: int, **more) -> QuestionRecord:
    """A question whose paragraph stands at this rank; nothing was read."""
    found = {f"recall@{k}": float(rank <= k) for k in CUTOFFS}
    holds = {f"answer_recall@{k}": 1.0 for k in CUTOFFS}
    return QuestionRecord(
        "bm25", name, "Who?", {**found, **holds, "rr": 1 / rank}, timings_ms={"retrieve": 6.0}, **more
    )


def read(name: str, exact: float, retrieved: float, confidence: float, answered: bool) -> QuestionRecord:
    """One that was read, too."""
    one = ranked(name, 1 if retrieved else 30)
    given = exact if answered else 0.0
    scores = {
        **one.scores,
        "exact": exact,
        "f1": exact,
        "retrieved": retrieved,
        "answered": float(answered),
        "exact_abstaining": given,
        "f1_abstaining": given,
    }
    text = "Ada" if answered else ""
    return QuestionRecord("bm25", name, "Who?", scores, prediction=text, confidence=confidence, timings_ms=MS)


def absent(name: str, declined: bool) -> QuestionRecord:
    """An unanswerable question that was read."""
    scores = {
        "declined": float(declined),
        "exact_abstaining": float(declined),
        "f1_abstaining": float(declined),
    }
    text = "" if declined else "Ada"
    return QuestionRecord(
        "bm25", name, "Who?", scores, answerable=False, prediction=text, confidence=0.5, timings_ms=MS
    )


def test_recall_is_over_all_and_reading_over_those_read() -> None:
    figures = open_figures(
        [read("q1", 1.0, 1.0, 0.9, True), read("q2", 0.0, 0.0, 0.4, True), ranked("q3", 4)]
    )
    assert (figures["questions"], figures["read"]) == (3, 2)
    assert figures["recall@1"] == pytest.approx(1 / 3)
    assert (figures["recall@5"], figures["recall@100"]) == (pytest.approx(2 / 3), 1.0)
    assert (figures["exact"], figures["exact_retrieved"], figures["retrieved"]) == (50.0, 100.0, 0.5)


def test_passages_are_counted_over_those_read() -> None:
    asked = read("a", 1.0, 1.0, 0.9, True)
    one, other = replace(asked, passages_read=8), replace(asked, id="b", passages_read=20)
    assert open_figures([one, other, ranked("c", 4)])["passages_read"] == 14
    assert "passages_read" not in open_figures([ranked("c", 4)])


def test_declined_answers_count_in_exact_and_not_where_declining_is_allowed() -> None:
    figures = open_figures([read("q1", 1.0, 1.0, 0.9, True), read("q2", 1.0, 1.0, 0.1, False)])
    assert (figures["exact"], figures["abstained"]) == (100.0, 0.5)
    assert (figures["exact_abstaining"], figures["exact_answered"]) == (50.0, 100.0)


def test_unanswerable_questions_are_right_when_declined() -> None:
    figures = open_figures([read("q1", 1.0, 1.0, 0.9, True), absent("n1", True), absent("n2", False)])
    assert (figures["questions"], figures["read"], figures["unanswerable"]) == (1, 3, 2)
    assert (figures["false_answers"], figures["abstained"]) == (0.5, 0.0)
    assert figures["exact_abstaining"] == pytest.approx(200 / 3)
    assert figures["exact_answered"] == 50.0


def test_the_area_under_risk_and_coverage_takes_all_that_are_read() -> None:
    records = [read("q1", 1.0, 1.0, 0.9, True), read("q2", 0.0, 1.0, 0.1, False)]
    assert open_figures(records)["aurc"] == pytest.approx((0 + 1 / 2) / 2)


def test_times_are_those_of_questions_that_were_read_where_there_are_some() -> None:
    figures = open_figures([ranked("q1", 1), read("q2", 1.0, 1.0, 0.9, True)])
    assert (figures["ms"], figures["ms_per_question"]) == (MS, 16.0)


def test_what_was_not_measured_is_left_out() -> None:
    figures = open_figures([ranked("q1", 1)])
    assert figures["ms"] == {"retrieve": 6.0}
    assert not {"exact", "f1", "abstained", "aurc", "false_answers"} & figures.keys()


def test_confidences_are_judged_by_bins_coverage_and_resamples() -> None:
    """A hundred right answers at 0.9 and a hundred wrong ones at 0.1."""
    sure = [read(f"q{i}", 1.0, 1.0, 0.9, True) for i in range(100)]
    figures = open_figures([*sure, *(read(f"r{i}", 0.0, 1.0, 0.1, True) for i in range(100))])
    assert figures["ece"] == figures["ece_exact"] == pytest.approx(0.1)
    assert figures["ece_mass"] == pytest.approx(0.094)  # the eighth bin of equal mass holds both kinds
    assert (figures["exact@25%"], figures["exact@50%"], figures["f1@100%"]) == (100, 100, 50)
    assert [(one["count"], one["accuracy"]) for one in figures["reliability"]] == [(100, 0), (100, 1)]
    assert "best_exact" not in figures


def test_the_best_threshold_is_told_where_some_questions_have_no_answer() -> None:
    figures = open_figures([read("q1", 1.0, 1.0, 0.9, False), absent("n1", False)])
    assert (figures["best_exact"], figures["best_exact_threshold"]) == (100, 0.9)
