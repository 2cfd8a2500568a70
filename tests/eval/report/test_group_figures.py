from __future__ import annotations

from dataclasses import replace

from spanwise.eval.question_record import Evidence, QuestionRecord
from spanwise.eval.report.curve_plots import precision_recall_plot
from spanwise.eval.report.group_figures import group_figures
from spanwise.eval.report.system_tally import tallies

EVIDENCE = (Evidence("mill", 0, 12, "Ada built it", 2.0, (0, 3)),)
RIGHT = QuestionRecord(
    "mine",
    "q1",
    "Who built it?",
    {"exact": 1.0, "f1": 1.0},
    golds=("Ada",),
    prediction="Ada",
    evidence=EVIDENCE,
)
WHEN = replace(RIGHT, id="q2", question="When?", scores={"exact": 0.0, "f1": 0.5}, golds=("in 1811",))
DECLINED = replace(RIGHT, id="q3", scores={"exact": 0.0, "f1": 0.0}, prediction="")
ABSENT = replace(DECLINED, id="q4", answerable=False, golds=(), evidence=(replace(EVIDENCE[0], score=-1.0),))


def test_groups_have_counts_means_and_intervals_in_their_order() -> None:
    [tally] = tallies([WHEN, RIGHT, replace(RIGHT, id="q5")])
    words = group_figures(tally)["question word"]
    assert list(words) == ["who", "when"]
    assert (words["who"]["n"], words["who"]["exact"], words["when"]["f1"]) == (2, 100, 50)
    low, high = words["when"]["f1_interval"]
    assert 0 <= low < 50 < high <= 100


def test_questions_are_grouped_by_kind_of_answer_and_length_of_passage() -> None:
    [tally] = tallies([RIGHT, WHEN, replace(RIGHT, id="q6", evidence=())])
    found = group_figures(tally)
    assert {kind: one["n"] for kind, one in found["kind of answer"].items()} == {"date": 1, "name": 2}
    assert found["passage length"]["up to 75 words"]["n"] == 2


def test_precision_and_recall_count_what_a_declined_span_was_worth() -> None:
    [tally] = tallies([RIGHT, replace(DECLINED, evidence=(replace(EVIDENCE[0], score=0.5),)), ABSENT])
    assert tally.margins.curves()["F1"] == [(0.5, 1.0), (1.0, 1.0), (1.0, 2 / 3)]
    [plot] = precision_recall_plot([tally])
    assert [row[0] for row in plot.rows] == ["EM", "F1"]


def test_there_is_no_such_curve_where_every_question_has_an_answer() -> None:
    [tally] = tallies([RIGHT, WHEN])
    assert list(precision_recall_plot([tally])) == []
