"""What a report shows of one system, gathered record by record: however many there are, it stays small."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spanwise.errors import DataMalformed

from ..abstention import verdict_of
from ..question_kind import (
    ANSWER_KINDS,
    ANSWER_LENGTHS,
    PASSAGE_LENGTHS,
    QUESTION_WORDS,
    answer_kind,
    answer_length,
    passage_length,
    question_word,
)
from ..question_record import QuestionRecord
from .forecasts import Forecasts
from .margins import Margins
from .worst import Worst, worst_lists

GROUPED = ("exact", "f1", "right", "right_top3")
"""The scores, 0..1, that are shown by group."""

GROUPINGS: Mapping[str, Callable[[QuestionRecord], str]] = {
    "question word": lambda record: question_word(record.question),
    "answer length": lambda record: answer_length(record.golds),
    "kind of answer": lambda record: answer_kind(record.golds),
    "passage length": lambda record: passage_length(record.evidence[0].text) if record.evidence else "",
    "type of question": lambda record: record.type,
}
"""By what questions are grouped; one without a group is left out. The passage is the first one kept."""

ORDERS: Mapping[str, Sequence[str]] = {
    "question word": QUESTION_WORDS,
    "answer length": ANSWER_LENGTHS,
    "kind of answer": ANSWER_KINDS,
    "passage length": PASSAGE_LENGTHS,
}


@dataclass(slots=True)
class Mean:
    """A sum that is still growing."""

    total: float = 0.0
    n: int = 0

    def add(self, value: float) -> None:
        """One more value."""
        self.total += value
        self.n += 1

    @property
    def value(self) -> float:
        """The mean; 0 of nothing."""
        return self.total / self.n if self.n else 0.0


def _means() -> defaultdict[str, Mean]:
    return defaultdict(Mean)


@dataclass(slots=True)
class SystemTally:
    """The sums, distributions and worst failures of one system.

    `groups` holds means by (grouping, score) and group; `times_ms` are by stage. `verdicts` are counted by
    the type of question.
    """

    name: str
    questions: int = 0
    scores: dict[str, Mean] = field(default_factory=_means)
    groups: dict[tuple[str, str], dict[str, Mean]] = field(default_factory=lambda: defaultdict(_means))
    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    forecasts: Forecasts = field(default_factory=Forecasts)
    margins: Margins = field(default_factory=Margins)
    times_ms: dict[str, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    worst: tuple[Worst, ...] = field(default_factory=worst_lists)

    def add(self, record: QuestionRecord) -> None:
        """One more record; DataMalformed when a share or a confidence is outside of 0..1."""
        self.questions += 1
        for name, score in record.scores.items():
            self.scores[name].add(score)
            if name in GROUPED:
                self._add_groups(record, name, _share(record, name, score))
        for stage, taken in record.timings_ms.items():
            self.times_ms[stage].append(taken)
        self.margins.add(record)
        verdict = verdict_of(record)
        if verdict is not None:
            self.verdicts[(record.type or "answerable") if record.answerable else "absent"][verdict] += 1
            if record.confidence is not None:
                _share(record, "confidence", record.confidence)
                self.forecasts.add(record, verdict)
        for one in self.worst:
            one.add(record, verdict)

    def _add_groups(self, record: QuestionRecord, name: str, score: float) -> None:
        for grouping, group_of in GROUPINGS.items():
            if group := group_of(record):
                self.groups[grouping, name][group].add(score)


def in_order(grouping: str, groups: Iterable[str]) -> list[str]:
    """The groups as a table has them: in the order of their grouping, or by name."""
    there = set(groups)
    return [group for group in ORDERS.get(grouping, sorted(there)) if group in there]


def tallies(records: Iterable[QuestionRecord]) -> list[SystemTally]:
    """One tally for each system, in the order in which they come."""
    found: dict[str, SystemTally] = {}
    for record in records:
        if record.system not in found:
            found[record.system] = SystemTally(record.system)
        found[record.system].add(record)
    return list(found.values())


def _share(record: QuestionRecord, name: str, value: float) -> float:
    if not 0 <= value <= 1:
        where = f"the record of question {record.id!r} and system {record.system!r}"
        raise DataMalformed(f"{where} has {name} = {value}; expected 0..1")
    return value
