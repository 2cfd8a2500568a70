from __future__ import annotations

from dataclasses import replace

import pytest

from spanwise.errors import DataMalformed
from spanwise.eval.question_record import QuestionRecord
from spanwise.eval.report.system_tally import tallies
from spanwise.eval.report.worst import MOST

RIGHT = QuestionRecord(
    "bm25", "q1", "Who built it?", {"exact": 1.0, "f1": 1.0}, golds=("Ada",), prediction="Ada", confidence=0.9
)
WRONG = replace(RIGHT, id="q2", scores={"exact": 0.0, "f1": 0.5}, prediction="Ada or Ute", confidence=0.4)
DECLINED = replace(RIGHT, id="q3", scores={"exact": 0.0, "f1": 0.0}, prediction="", confidence=0.1)
ABSENT = replace(DECLINED, id="q4", answerable=False, golds=(), scores={"declined": 1.0})
FALSE = replace(ABSENT, id="q5", scores={"declined": 0.0}, prediction="Ada", confidence=0.7)


def test_systems_come_in_their_order_with_their_means() -> None:
    dense, bm25 = tallies([replace(WRONG, system="dense"), RIGHT, WRONG])
    assert (dense.name, dense.questions, bm25.questions) == ("dense", 1, 2)
    assert (bm25.scores["exact"].value, bm25.scores["f1"].value) == (0.5, 0.75)


def test_scores_are_grouped_by_word_and_by_length() -> None:
    [tally] = tallies([RIGHT, replace(WRONG, golds=("Ada Rook",))])
    assert {group: mean.value for group, mean in tally.groups["answer length", "exact"].items()} == {
        "1 word": 1.0,
        "2 words": 0.0,
    }
    assert tally.groups["question word", "f1"]["who"].n == 2
    assert ("type of question", "exact") not in tally.groups


def test_only_answers_given_are_forecasts_where_nothing_is_known_of_the_declined() -> None:
    [tally] = tallies([RIGHT, WRONG, DECLINED, ABSENT, FALSE])
    assert list(tally.forecasts.confidences) == [0.9, 0.4, 0.7]
    assert list(tally.forecasts.credits) == [1.0, 0.0, 0.0]
    assert tally.forecasts.told == "3 answers given"


@pytest.mark.parametrize("scores", [{"right": 0.0, "right_forced": 1.0}, {"exact": 1.0, "answered": 0.0}])
def test_declined_ones_are_forecasts_when_it_is_known_what_they_were_worth(scores: dict[str, float]) -> None:
    [tally] = tallies([RIGHT, replace(DECLINED, scores=scores), ABSENT])
    assert list(tally.forecasts.confidences) == [0.9, 0.1, 0.1]
    assert list(tally.forecasts.credits) == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("record", [replace(RIGHT, confidence=1.5), replace(RIGHT, scores={"exact": 100.0})])
def test_what_is_no_share_is_refused_with_its_question(record: QuestionRecord) -> None:
    with pytest.raises(DataMalformed, match="question 'q1' and system 'bm25'"):
        tallies([record])


def worst_of(*records: QuestionRecord) -> dict[str, list[str]]:
    [tally] = tallies(records)
    return {worst.title: [record.id for record in worst.records] for worst in tally.worst if worst.count}


def test_failures_are_sorted_into_kinds() -> None:
    assert worst_of(RIGHT, WRONG, DECLINED, ABSENT, FALSE) == {
        "Wrong answers": ["q2"],
        "Answered, although there is no answer": ["q5"],
        "Declined, although there is an answer": ["q3"],
    }


def test_the_surest_wrong_answers_come_first_and_near_misses_last() -> None:
    far = {"exact": 0.0, "f1": 0.0}
    unsure = replace(WRONG, id="unsure", scores=far, confidence=0.2)
    sure = replace(WRONG, id="sure", scores=far, confidence=0.3)
    unknown = replace(WRONG, id="unknown", scores=far, confidence=None)
    assert worst_of(WRONG, unknown, unsure, sure)["Wrong answers"] == ["sure", "unsure", "unknown", "q2"]


def test_rankings_are_ordered_by_their_score() -> None:
    ranked = [QuestionRecord("bm25", f"q{i}", "?", {"nDCG@10": i / 4, "R@100": 1.0}) for i in (3, 1, 4)]
    assert worst_of(*ranked) == {"Lowest scores": ["q1", "q3"]}


def test_the_worst_of_many_are_kept_and_all_are_counted() -> None:
    [tally] = tallies(replace(WRONG, id=str(i), confidence=i / 1000) for i in range(1000))
    assert tally.worst[0].count == 1000
    assert [record.id for record in tally.worst[0].records] == [str(i) for i in range(999, 999 - MOST, -1)]
