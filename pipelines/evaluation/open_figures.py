"""The figures of an open-domain evaluation, from the records of one retriever.

recall@k, rr          the paragraph of the question among the first k documents; its reciprocal rank
answer_recall@k       an answer, word for word, in the text of one of the first k documents
exact, f1             of the answerable questions that are read, the best candidate however unsure
exact_retrieved, …    the same where the question's paragraph was among the passages read
retrieved             the share of the questions where it was
abstained             the share of the answerable ones that is declined at the asker's threshold
exact_answered, …     of the answers that are given in spite of it; none is right for an unanswerable question
exact_abstaining, …   of all that are read by the rule of SQuAD 2.0: to decline is right for the unanswerable
false_answers         the share of the unanswerable ones that is answered
passages_read         the mean over those that are read: fewer than were found where the first were enough
aurc                  the area under risk against coverage, by confidence; lower is better

Where confidences were fitted, those of `open_confidence` follow.

EM and F1 are in percent, as SQuAD prints them, shares and recall 0..1. What was not measured is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ...eval.calibration.risk_coverage import aurc
from ...eval.question_record import QuestionRecord
from .open_confidence import confidence_figures

CUTOFFS = (1, 5, 20, 100)
RETRIEVAL = (*[f"{name}@{cutoff}" for name in ("recall", "answer_recall") for cutoff in CUTOFFS], "rr")
STAGES = ("retrieve", "read", "weigh")


def open_figures(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """The figures by name, those of retrieval first; times are means in milliseconds."""
    answerable = [record for record in records if record.answerable]
    read = [record for record in records if record.prediction is not None]
    figures: dict[str, Any] = {name: _mean(answerable, name) for name in RETRIEVAL}
    figures |= _reading(read)
    figures |= confidence_figures(read)
    ms = {stage: _mean_ms(read or records, stage) for stage in STAGES}
    figures |= {
        "questions": len(answerable),
        "read": len(read),
        "ms_per_question": sum(value for value in ms.values() if value is not None),
        "ms": {stage: value for stage, value in ms.items() if value is not None},
    }
    return {name: value for name, value in figures.items() if value is not None}


def _reading(read: Sequence[QuestionRecord]) -> dict[str, float | None]:
    answerable = [record for record in read if record.answerable]
    absent = [record for record in read if not record.answerable]
    retrieved = [record for record in answerable if record.scores["retrieved"]]
    answered = [record for record in read if record.prediction]
    return {
        **_exact_and_f1(answerable, "", ""),
        **_exact_and_f1(retrieved, "", "_retrieved"),
        "retrieved": _mean(answerable, "retrieved"),
        "abstained": _share_missed(answerable, "answered"),
        **_exact_and_f1(answered, "_abstaining", "_answered"),
        **_exact_and_f1(read, "_abstaining", "_abstaining"),
        "false_answers": _share_missed(absent, "declined"),
        "unanswerable": len(absent) or None,
        "passages_read": _mean_passages(read),
        "aurc": _aurc(read),
    }


def _exact_and_f1(records: Sequence[QuestionRecord], score: str, figure: str) -> dict[str, float | None]:
    means = {name: _mean(records, name + score) for name in ("exact", "f1")}
    return {name + figure: None if mean is None else 100 * mean for name, mean in means.items()}


def _mean(records: Sequence[QuestionRecord], name: str) -> float | None:
    return fmean(record.scores[name] for record in records) if records else None


def _share_missed(records: Sequence[QuestionRecord], name: str) -> float | None:
    mean = _mean(records, name)
    return None if mean is None else 1 - mean


def _mean_ms(records: Sequence[QuestionRecord], stage: str) -> float | None:
    times = [record.timings_ms[stage] for record in records if stage in record.timings_ms]
    return fmean(times) if times else None


def _mean_passages(read: Sequence[QuestionRecord]) -> float | None:
    counts = [one.passages_read for one in read if one.passages_read is not None]
    return fmean(counts) if counts else None


def _aurc(read: Sequence[QuestionRecord]) -> float | None:
    """Over all that are read, none declined; None where a reader says no confidence."""
    sure = [(one.confidence, one.scores.get("exact", 0.0)) for one in read if one.confidence is not None]
    if not sure or len(sure) < len(read):
        return None
    return aurc([confidence for confidence, _ in sure], [credit for _, credit in sure])
