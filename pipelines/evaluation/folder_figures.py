"""The figures of a judged folder, from the records of one system.

questions … rightly_declined    counts; see `eval.abstention` for what counts as right
answer_recall@k                 the share of the answerable questions for which one of the k best passages
                                holds a gold answer in a named document
ms_retrieve, ms                 medians over the questions, in milliseconds: finding passages, and all of it
passages_read                   the mean over the questions: fewer than were found where the first were enough
by_type                         counts of verdicts by the type of question

What was not measured is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from ...eval.abstention import Verdict, verdict_of
from ...eval.question_record import QuestionRecord

CUTOFFS = (1, 5, 20)
RETRIEVE = "retrieve"


def recall_name(cutoff: int) -> str:
    """The name of a score and a figure."""
    return f"answer_recall@{cutoff}"


def folder_figures(records: Iterable[QuestionRecord]) -> dict[str, Any]:
    """The figures by name; see the module."""
    records = list(records)
    verdicts: Counter[Verdict | None] = Counter()
    by_type: Mapping[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        verdict = verdict_of(record)
        verdicts[verdict] += 1
        by_type[record.type if record.answerable else "absent"][str(verdict)] += 1
    return {
        "questions": len(records),
        "right_top1": verdicts[Verdict.RIGHT],
        "right_top3": sum(int(record.scores.get("right_top3", 0)) for record in records),
        "false_answers": verdicts[Verdict.FALSE_ANSWER],
        "wrongly_declined": verdicts[Verdict.WRONGLY_DECLINED],
        "rightly_declined": verdicts[Verdict.RIGHTLY_DECLINED],
        **_recall(records),
        **_times(records),
        **_passages_read(records),
        "by_type": {kind: dict(sorted(counts.items())) for kind, counts in sorted(by_type.items())},
    }


def _recall(records: Sequence[QuestionRecord]) -> dict[str, float]:
    found = {
        name: [record.scores[name] for record in records if name in record.scores]
        for name in map(recall_name, CUTOFFS)
    }
    return {name: fmean(scores) for name, scores in found.items() if scores}


def _times(records: Sequence[QuestionRecord]) -> dict[str, float]:
    retrieve = [record.timings_ms[RETRIEVE] for record in records if RETRIEVE in record.timings_ms]
    whole = [sum(record.timings_ms.values()) for record in records if record.timings_ms]
    return {name: median(times) for name, times in (("ms_retrieve", retrieve), ("ms", whole)) if times}


def _passages_read(records: Sequence[QuestionRecord]) -> dict[str, float]:
    counts = [record.passages_read for record in records if record.passages_read is not None]
    return {"passages_read": fmean(counts)} if counts else {}
