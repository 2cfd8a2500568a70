"""The worst failures of a system, by kind, worst first; the rest is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..abstention import Verdict
from ..question_record import QuestionRecord

MOST = 25
RANKING_SCORES = ("nDCG@10", "RR", "rr", "AP", "recall@20", "R@100", "rougeL", "f1")
"""By which score questions without a verdict are ordered: the first of these that a record has."""

Order = tuple[float, ...]


@dataclass(slots=True)
class Worst:
    """One kind of failure. `order` gives a place, least first, to those records that are of the kind."""

    title: str
    note: str
    order: Callable[[QuestionRecord, Verdict | None], Order | None]
    count: int = 0
    _kept: list[tuple[Order, int, QuestionRecord]] = field(default_factory=list)

    def add(self, record: QuestionRecord, verdict: Verdict | None) -> None:
        """Look at one more record; those of equal order stay in the order of their coming."""
        order = self.order(record, verdict)
        if order is None:
            return
        self._kept.append((order, self.count, record))
        self.count += 1
        if len(self._kept) > 4 * MOST:
            self._kept = self._first()

    @property
    def records(self) -> list[QuestionRecord]:
        """The worst, at most `MOST`, the first ones first."""
        return [record for _, _, record in self._first()]

    def _first(self) -> list[tuple[Order, int, QuestionRecord]]:
        return sorted(self._kept, key=lambda kept: kept[:2])[:MOST]


def worst_lists() -> tuple[Worst, ...]:
    """The kinds of failure, empty."""
    return (
        Worst("Wrong answers", "those that share no word with a right one first, the surest first", _wrong),
        Worst("Answered, although there is no answer", "the surest first", _of(Verdict.FALSE_ANSWER)),
        Worst("Declined, although there is an answer", "the surest first", _of(Verdict.WRONGLY_DECLINED)),
        Worst("Lowest scores", f"by the first of {', '.join(RANKING_SCORES)} that is there", _low),
    )


def ranking_score(record: QuestionRecord) -> str | None:
    """The score that says how well a question without a verdict went; None without any."""
    known = (name for name in RANKING_SCORES if name in record.scores)
    return next(known, min(record.scores, default=None))


def _wrong(record: QuestionRecord, verdict: Verdict | None) -> Order | None:
    if verdict is not Verdict.WRONG:
        return None
    return float(record.scores.get("f1", 0.0) > 0), *_surest(record)


def _of(kind: Verdict) -> Callable[[QuestionRecord, Verdict | None], Order | None]:
    return lambda record, verdict: _surest(record) if verdict is kind else None


def _low(record: QuestionRecord, verdict: Verdict | None) -> Order | None:
    name = ranking_score(record)
    if verdict is not None or name is None or record.scores[name] >= 1:
        return None
    return (record.scores[name],)


def _surest(record: QuestionRecord) -> Order:
    return (-(record.confidence if record.confidence is not None else 0.0),)
