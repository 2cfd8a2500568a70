"""The threshold below which a question is declined, chosen on held-back questions.

The rule that it serves: answer when score >= threshold, else decline. A threshold is only worth what the
utility says that errors cost, so the utility is an argument; the two here are those that the field reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class HeldBack:
    """One held-back question: the score of its best answer (finite, higher is surer), and the truth.

    `right` is the credit of that answer, 1 or 0, or an F1 in between; 0 for a question without answer.
    """

    score: float
    right: float
    answerable: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a threshold does to the held-back questions: `right` is the summed credit of those answered."""

    right: float
    answered: int
    rightly_declined: int
    answerable: int
    questions: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """The chosen threshold, the utility it reaches on the held-back questions, and what it does there.

    `value` is the lowest score that is answered, or infinity when it is best to decline everything.
    """

    value: float
    utility: float
    outcome: Outcome


Utility = Callable[[Outcome], float]


def squad2_average(outcome: Outcome) -> float:
    """(credit of answered questions + rightly declined ones) / all questions.

    With 0/1 credit this is the `exact` of SQuAD 2.0 as a fraction, with F1 credit its `f1`.
    Source: Rajpurkar et al. 2018, "Know What You Don't Know", section 5.
    """
    return (outcome.right + outcome.rightly_declined) / outcome.questions


def answer_f1(outcome: Outcome) -> float:
    """The harmonic mean of P = right / answered and R = right / answerable; 0.0 when either is undefined.

    2PR / (P + R) = 2 right / (answered + answerable). Declining an unanswerable question earns nothing by
    itself, so it favours answering more than `squad2_average` does where many questions have no answer.
    """
    total = outcome.answered + outcome.answerable
    return 2 * outcome.right / total if outcome.answered and outcome.answerable else 0.0


def choose_threshold(records: Sequence[HeldBack], utility: Utility = squad2_average) -> Threshold:
    """The threshold with the highest utility; of several, the highest one, which answers the fewest.

    Candidates are infinity and every score in the records: no other threshold divides them differently.
    O(n log n); the order of the records does not matter when credits are 0 or 1.
    ValueError: no records, a score that is not finite, a credit outside 0..1, or credit without an answer.
    """
    _check(records)
    answerable = sum(record.answerable for record in records)
    absent = len(records) - answerable
    outcome = Outcome(0.0, 0, absent, answerable, len(records))
    best = Threshold(math.inf, utility(outcome), outcome)
    ordered = sorted(records, key=lambda record: -record.score)
    for score, group in groupby(ordered, key=lambda record: record.score):
        tied = list(group)
        outcome = Outcome(
            outcome.right + math.fsum(record.right for record in tied),
            outcome.answered + len(tied),
            outcome.rightly_declined - sum(not record.answerable for record in tied),
            answerable,
            len(records),
        )
        if utility(outcome) > best.utility:
            best = Threshold(score, utility(outcome), outcome)
    return best


def outcome_at(records: Sequence[HeldBack], value: float, utility: Utility = squad2_average) -> Threshold:
    """What this threshold does on held-back questions, however it was chosen; ValueError as above.

    >>> outcome_at([HeldBack(0.9, 1, True), HeldBack(0.4, 0, False)], 0.5).utility
    1.0
    """
    _check(records)
    given = [record for record in records if record.score >= value]
    outcome = Outcome(
        math.fsum(record.right for record in given),
        len(given),
        sum(not record.answerable for record in records if record.score < value),
        sum(record.answerable for record in records),
        len(records),
    )
    return Threshold(value, utility(outcome), outcome)


def _check(records: Sequence[HeldBack]) -> None:
    """Raise ValueError for records that no threshold can be chosen on."""
    if not records:
        raise ValueError("no held-back records; expected at least one")
    for record in records:
        if not math.isfinite(record.score):
            raise ValueError(f"score is {record.score}; expected a finite number")
        if not 0 <= record.right <= record.answerable:
            raise ValueError(f"right is {record.right}; expected 0..1, and 0 without an answer: {record}")
