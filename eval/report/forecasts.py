"""The confidences of a system beside what they were worth: what calibration is measured on."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..abstention import Verdict
from ..question_record import QuestionRecord


@dataclass(slots=True)
class Forecasts:
    """Grows record by record. Declined questions count by the candidate that was not sure enough, provided
    that every record tells whether it was right; else only the answers given count.
    """

    given: tuple[array[float], array[float]] = field(default_factory=lambda: (array("d"), array("d")))
    declined: tuple[array[float], array[float]] = field(default_factory=lambda: (array("d"), array("d")))
    untold: int = 0

    def add(self, record: QuestionRecord, verdict: Verdict) -> None:
        """One more record, which has a confidence."""
        credit = float(verdict is Verdict.RIGHT) if record.prediction else forced_credit(record)
        if credit is None:
            self.untold += 1
            return
        confidences, credits = self.given if record.prediction else self.declined
        confidences.append(record.confidence or 0.0)
        credits.append(credit)

    @property
    def confidences(self) -> Sequence[float]:
        """The confidences that count."""
        return self.given[0] if self.untold else self.given[0] + self.declined[0]

    @property
    def credits(self) -> Sequence[float]:
        """1.0 for each of the confidences whose answer is right, 0.0 for the others."""
        return self.given[1] if self.untold else self.given[1] + self.declined[1]

    @property
    def told(self) -> str:
        """How many count, and which."""
        count = len(self.confidences)
        if self.untold or not self.declined[0]:
            return f"{count:,} answers given"
        return f"{count:,} questions, {len(self.declined[0]):,} of them declined but counted as if answered"


def forced_credit(record: QuestionRecord) -> float | None:
    """Whether what was declined would have been right, 1.0 or 0.0; None where the record does not tell.

    It tells by the score `right_forced`, or by `exact` where `answered` stands beside it.
    """
    if not record.answerable:
        return 0.0
    if "answered" in record.scores:
        return record.scores.get("exact")
    return record.scores.get("right_forced")
