"""Judging a folder of one's own: are its questions answered right, and the absent ones declined?"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spanwise.types import Answer, AnswerSpan, Passage

from ...eval.abstention import Verdict, judge, verdict_of
from ...eval.question_record import Evidence, QuestionRecord
from ...eval.question_set import FolderQuestion
from ...retrieval.registry import stages_of
from ..ask import Asker
from ..library import DEFAULT_RETRIEVER, Library
from ..progress import Report, silent
from ..reranking import AS_USUAL, Reranking, below_reranking, system_reranking
from .result_folder import ResultFolder

COMMAND = "folder"
QUESTIONS_AT_ONCE = 8
TOP = 3


def evaluate_folder(
    library: Library,
    questions: Sequence[FolderQuestion],
    out: Path,
    retriever: str = DEFAULT_RETRIEVER,
    reader: str = "builtin",
    k: int = 20,
    threshold: float | None = None,
    report: Report = silent,
    group: bool = True,
    reranking: Reranking = AS_USUAL,
) -> dict[str, Any]:
    """The figures of `summary`; a record of every question is in the result folder `out`, in their order.

    See `eval.abstention` for what counts as right. A folder that was begun goes on; ValueError when it was
    begun with other questions, other documents or other settings.
    """
    rerank = system_reranking(retriever, reranking)
    asker = library.asker(retriever, reader, group=group, **rerank)
    settings: dict[str, Any] = {"retriever": retriever, "reader": reader, "k": k, "group": group, **rerank}
    settings |= comparable_settings(asker, questions, threshold)
    if "colbert" in stages_of(below_reranking(retriever)) and library.colbert is not None:
        settings |= library.colbert.settings()
    with ResultFolder.start(out, COMMAND, settings) as results:
        done = results.done(retriever)
        waiting = [question for question in questions if question.id not in done]
        report("questions", len(questions) - len(waiting), len(questions))
        for at in range(0, len(waiting), QUESTIONS_AT_ONCE):
            batch = waiting[at : at + QUESTIONS_AT_ONCE]
            answers = asker.ask([q.question for q in batch], k, alternatives=TOP - 1, threshold=threshold)
            results.add(_record(q, answer, retriever) for q, answer in zip(batch, answers, strict=True))
            report("questions", len(questions) - len(waiting) + at + len(batch), len(questions))
        figures = summary(results.records(retriever))
        results.finish({retriever: figures})
    return figures


def comparable_settings(
    asker: Asker, questions: Sequence[FolderQuestion], threshold: float | None
) -> dict[str, Any]:
    """What else must be equal for two runs to be one: models, the threshold meant, documents, questions."""
    files = {name: state.sha256 for name, state in asker.snapshot.files().items()}
    fitted = asker.calibration.threshold if asker.calibration else None
    return {
        "reader_digest": asker.reader.digest,
        "threshold": fitted if threshold is None else threshold,
        "encoders": sorted(asker.snapshot.vector_models()),
        "passages": asker.snapshot.n_passages,
        "documents_digest": _digest(files),
        "questions_digest": _digest([asdict(question) for question in questions]),
    }


def unindexed_documents(library: Library, questions: Iterable[FolderQuestion]) -> dict[str, int]:
    """Documents that questions name and the index does not hold, and how many questions name each.

    No answer from there can be right, and most often the name is misspelt.
    """
    indexed = library.snapshot.files()
    named = Counter(name for question in questions for name in set(question.documents))
    return {name: count for name, count in sorted(named.items()) if name not in indexed}


def summary(records: Iterable[QuestionRecord]) -> dict[str, Any]:
    """The figures that `eval folder` prints, without the records; all are counts of questions."""
    verdicts: Counter[Verdict | None] = Counter()
    by_type: Mapping[str, Counter[str]] = defaultdict(Counter)
    right_top3 = 0
    for record in records:
        verdict = verdict_of(record)
        verdicts[verdict] += 1
        by_type[record.type if record.answerable else "absent"][str(verdict)] += 1
        right_top3 += int(record.scores.get("right_top3", 0))
    return {
        "questions": verdicts.total(),
        "right_top1": verdicts[Verdict.RIGHT],
        "right_top3": right_top3,
        "false_answers": verdicts[Verdict.FALSE_ANSWER],
        "wrongly_declined": verdicts[Verdict.WRONGLY_DECLINED],
        "rightly_declined": verdicts[Verdict.RIGHTLY_DECLINED],
        "by_type": {kind: dict(sorted(counts.items())) for kind, counts in sorted(by_type.items())},
    }


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


def _record(question: FolderQuestion, answer: Answer, system: str) -> QuestionRecord:
    sure = answer.best or answer.best_rejected
    return QuestionRecord(
        system,
        question.id,
        question.question,
        _scores(question, answer),
        question.answerable,
        question.type,
        question.answers,
        question.documents,
        answer.text,
        None if sure is None else sure.confidence,
        answer.timings_ms,
        _evidence(answer),
    )


def _scores(question: FolderQuestion, answer: Answer) -> dict[str, float]:
    """What was declined counts for `right_forced` alone: was the best candidate right, shown or not?"""
    if not question.answerable:
        return {"declined": float(answer.no_answer)}
    shown = [] if answer.best is None else [answer.best, *answer.alternatives][:TOP]
    right = [judge(question, one) is Verdict.RIGHT for one in shown]
    forced = judge(question, answer.best or answer.best_rejected) is Verdict.RIGHT
    return {"right": float(any(right[:1])), "right_top3": float(any(right)), "right_forced": float(forced)}


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


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
