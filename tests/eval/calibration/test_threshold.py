from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.calibration.threshold import HeldBack, Outcome, answer_f1, choose_threshold, squad2_average

RECORDS = [
    HeldBack(0.9, 1, True),
    HeldBack(0.7, 0, False),
    HeldBack(0.6, 1, True),
    HeldBack(0.4, 0, True),
    HeldBack(0.2, 0, False),
]


def test_squad2_average_by_hand() -> None:
    chosen = choose_threshold(RECORDS)
    assert (chosen.value, chosen.utility) == (0.9, 3 / 5)
    assert chosen.outcome == Outcome(right=1, answered=1, rightly_declined=2, answerable=3, questions=5)


def test_answer_f1_by_hand() -> None:
    chosen = choose_threshold(RECORDS, answer_f1)
    assert chosen.value == 0.6
    assert chosen.utility == pytest.approx(2 / 3)


def test_of_equal_utilities_the_one_that_answers_fewest_wins() -> None:
    tied = [HeldBack(3, 1, True), HeldBack(2, 0, False), HeldBack(1, 1, True)]
    assert choose_threshold(tied).value == 3


def test_equal_scores_are_never_divided() -> None:
    tied = [HeldBack(1, 1, True), HeldBack(1, 0, False), HeldBack(1, 0, False)]
    assert choose_threshold(tied).value == math.inf


def test_declining_everything_is_infinity() -> None:
    chosen = choose_threshold([HeldBack(0.5, 0, True), HeldBack(0.1, 0, False)])
    assert (chosen.value, chosen.utility, chosen.outcome.answered) == (math.inf, 0.5, 0)


@pytest.mark.parametrize(
    ("outcome", "f1"),
    [(Outcome(0, 0, 2, 3, 5), 0.0), (Outcome(0, 5, 0, 0, 5), 0.0), (Outcome(1, 2, 0, 2, 4), 0.5)],
)
def test_answer_f1_is_zero_where_precision_or_recall_is_undefined(outcome: Outcome, f1: float) -> None:
    assert answer_f1(outcome) == f1


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "no held-back records"),
        ([HeldBack(math.nan, 0, True)], "score is nan"),
        ([HeldBack(math.inf, 0, True)], "score is inf"),
        ([HeldBack(0, 1.5, True)], r"right is 1\.5"),
        ([HeldBack(0, math.nan, True)], "right is nan"),
        ([HeldBack(0, 1, False)], "0 without an answer"),
    ],
)
def test_impossible_records_are_refused(records: list[HeldBack], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        choose_threshold(records)


def utility_at(records: list[HeldBack], threshold: float) -> float:
    gained = [record.right if record.score >= threshold else not record.answerable for record in records]
    return sum(gained) / len(records)


RECORD = st.tuples(st.integers(0, 5), st.booleans(), st.booleans()).map(
    lambda t: HeldBack(float(t[0]), float(t[1] and t[2]), t[2])
)


@given(st.lists(RECORD, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_no_other_threshold_is_better_and_order_does_not_matter(
    records: list[HeldBack], random: object
) -> None:
    chosen = choose_threshold(records, squad2_average)
    candidates = [math.inf, *(record.score for record in records)]
    best = max(utility_at(records, value) for value in candidates)
    assert chosen.utility == pytest.approx(best)
    assert chosen.value == max(v for v in candidates if utility_at(records, v) == pytest.approx(best))
    shuffled = records.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose_threshold(shuffled, squad2_average) == chosen
