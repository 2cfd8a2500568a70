"""The record of a question about a folder: what was shown or declined, what was near, what was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from spanwise.types import Answer, AnswerSpan, Hit, Passage

from ...eval.abstention import Verdict, holds_answer, judge, verdict_of
from ...eval.question_record import Evidence, QuestionRecord
from ...eval.question_set import FolderQuestion
from .folder_figures import CUTOFFS, recall_name

TOP = 3
"""So many answers are shown, the best one counted."""


def printed_record(record: QuestionRecord) -> dict[str, Any]:
    """What `eval folder --json` prints of a question; `answer` is None when it was declined."""
    printed = asdict(record)
    scores, prediction = printed.pop("scores"), printed.pop("prediction")
    answer = None
    if prediction:
        best = record.evidence[0]
        start = best.start + (best.span or (0, 0))[0]
        place = {"document": best.document, "start": start, "end": start + len(prediction)}
        answer = {"text": prediction, "confidence": record.confidence, **place}
    right_top3 = bool(scores.get("right_top3", 0))
    return {
        "id": record.id,
        "verdict": str(verdict_of(record)),
        "right_top3": right_top3,
        **printed,
        "answer": answer,
    }


def folder_record(
    question: FolderQuestion, answer: Answer, hits: Sequence[Hit], k: int, system: str
) -> QuestionRecord:
    """What a system did with a question; `hits` are the `k` passages or fewer that were found."""
    sure = answer.best or answer.best_rejected
    return QuestionRecord(
        system,
        question.id,
        question.question,
        _scores(question, answer) | _recall(question, hits, k),
        question.answerable,
        question.type,
        question.answers,
        question.documents,
        answer.text,
        None if sure is None else sure.confidence,
        answer.timings_ms,
        _evidence(answer),
        answer.passages_read,
    )


def _scores(question: FolderQuestion, answer: Answer) -> dict[str, float]:
    """What was declined counts for `right_forced` alone: was the best candidate right, shown or not?"""
    if not question.answerable:
        return {"declined": float(answer.no_answer)}
    shown = [] if answer.best is None else [answer.best, *answer.alternatives][:TOP]
    right = [judge(question, one) is Verdict.RIGHT for one in shown]
    forced = judge(question, answer.best or answer.best_rejected) is Verdict.RIGHT
    return {"right": float(any(right[:1])), "right_top3": float(any(right)), "right_forced": float(forced)}


def _recall(question: FolderQuestion, hits: Sequence[Hit], k: int) -> dict[str, float]:
    """By each depth that was searched: is a right passage among the best?"""
    if not question.answerable:
        return {}
    right = [holds_answer(question, hit.passage) for hit in hits]
    return {recall_name(cutoff): float(any(right[:cutoff])) for cutoff in CUTOFFS if cutoff <= k}


def _evidence(answer: Answer) -> tuple[Evidence, ...]:
    """The answers shown, or the one that was not sure enough, then the nearest passages without any."""
    best = answer.best or answer.best_rejected
    shown = [] if best is None else [best, *answer.alternatives]
    seen = {one.passage.id for one in shown}
    nearest = [hit for hit in answer.nearest if hit.passage.id not in seen]
    return (*map(_proposed, shown), *(_found(hit.passage, hit.score) for hit in nearest))


def _proposed(answer: AnswerSpan) -> Evidence:
    start = answer.span.start - answer.passage.start
    return _found(answer.passage, answer.score, (start, start + len(answer.span.text)))


def _found(passage: Passage, score: float, span: tuple[int, int] | None = None) -> Evidence:
    return Evidence(passage.document_id, passage.start, passage.end, passage.text, score, span)
