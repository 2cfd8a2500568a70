"""`eval squad` with a reader: it reads each question's own paragraph, batch by batch, into a result folder.

Beside the records it writes what the official scripts read: `predictions.json`, and for version 2.0
`na_prob.json`; scored with the official script they give the same figures. `spans.json` has the best span of
each question, also where it was declined: with it and `na_prob.json` any threshold can be looked at.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spanwise.types import ProgressCallback, ScoredSpan, no_progress

from ...eval.question_record import Evidence, QuestionRecord
from ...eval.squad_na_probability import na_probability
from ...eval.squad_operating_points import answer_vs_no_answer, best_operating_points
from ...reader.protocol import Reader
from ..candidates import score_over_null
from .result_folder import ResultFolder
from .squad import (
    COMMAND,
    DECLINES_NOTHING,
    GoldQuestion,
    SquadTask,
    batches,
    best_spans,
    paragraph_evidence,
    question_record,
    score,
)

PREDICTIONS, NA_PROBABILITIES, SPANS = "predictions.json", "na_prob.json", "spans.json"
NULL_WINS = 0.5


def evaluate_squad(
    task: SquadTask,
    reader: Reader,
    out: Path,
    system: str = "builtin",
    report: ProgressCallback = no_progress,
) -> dict[str, float]:
    """The official figures of a reader; questions that the result folder `out` holds are not read again.

    In version 1.1 every question is answered. In 2.0 one is declined when its no-answer probability is above
    the threshold; none chosen means 0.5, where the null score wins, or 1 for a reader without a null answer.
    That probability is the sigmoid of null score minus best score (of minus the best score without a null
    answer), and 1 for a paragraph without a token. A resumed run reads in the same batches, and so gives
    the same results. The folder's metrics hold more of version 2.0: `AvNA`, and the operating points at the
    best thresholds, or `answers_null` = False of a reader that was not taught to decline.
    """
    settings = {**task.settings, "reader": system, "reader_digest": reader.digest}
    with ResultFolder.start(out, COMMAND, settings) as results:
        done = set(results.done(system))
        report("questions", len(done), len(task.questions))
        for batch in batches(task.questions):
            if waiting := {question.id for question in batch} - done:
                records = _read(task, reader, system, batch)
                results.add(record for record in records if record.id in waiting)
                done |= waiting
                report("questions", len(done), len(task.questions))
        figures = _figures(task, results, system)
        results.finish({system: figures | _details(task, results, system, answers_null(reader))})
    return figures


def _read(
    task: SquadTask, reader: Reader, system: str, batch: Sequence[GoldQuestion]
) -> Iterator[QuestionRecord]:
    began = time.perf_counter()
    spans = best_spans(reader, batch)
    timings = {"read": 1000 * (time.perf_counter() - began) / len(batch)}
    for question, best in zip(batch, spans, strict=True):
        evidence = () if best is None else (_evidence(question, best),)
        prediction = "" if best is None or _declined(task, best) else best.span.text
        yield question_record(task.version, system, question, prediction, evidence, timings)


def _evidence(question: GoldQuestion, best: ScoredSpan) -> Evidence:
    return paragraph_evidence(question, score_over_null(best), (best.span.start, best.span.end))


def _declined(task: SquadTask, best: ScoredSpan) -> bool:
    if task.version != "2.0":
        return False
    usual = DECLINES_NOTHING if math.isnan(best.null_score) else NULL_WINS
    return na_probability(score_over_null(best)) > (usual if task.threshold is None else task.threshold)


def _figures(task: SquadTask, results: ResultFolder, system: str) -> dict[str, float]:
    """The figures of the files of the official script, which are written first."""
    records = {record.id: record for record in results.records(system)}
    predictions = {q.id: records[q.id].prediction or "" for q in task.questions}
    _write(results.path / PREDICTIONS, predictions)
    if task.version != "2.0":
        return score(task, predictions)
    probabilities = {q.id: _na_probability(records[q.id]) for q in task.questions}
    _write(results.path / NA_PROBABILITIES, probabilities)
    return score(task, predictions, probabilities)


def _details(task: SquadTask, results: ResultFolder, system: str, may_decline: bool) -> dict[str, Any]:
    """What the official script does not print, of version 2.0; the best spans are written first."""
    if task.version != "2.0":
        return {}
    records = {record.id: record for record in results.records(system)}
    golds = {q.id: q.answers for q in task.questions}
    found = {"AvNA": answer_vs_no_answer(golds, {q: not records[q].prediction for q in golds})}
    if not may_decline:
        return {"answers_null": False, **found}
    spans = {qid: _best_text(records[qid]) for qid in golds}
    _write(results.path / SPANS, spans)
    return found | best_operating_points(golds, spans, {q: _na_probability(records[q]) for q in golds})


def answers_null(reader: Reader) -> bool:
    """True when the reader was taught to say that there is no answer; so is one that does not tell."""
    return bool(getattr(reader, "answers_null", True))


def _best_text(record: QuestionRecord) -> str:
    """The best span's words, also of a declined question; "" where the paragraph holds no token."""
    if not record.evidence or record.evidence[0].span is None:
        return ""
    return record.evidence[0].text[slice(*record.evidence[0].span)]


def _na_probability(record: QuestionRecord) -> float:
    """The evidence of a record holds best score minus null score."""
    return na_probability(record.evidence[0].score) if record.evidence else 1.0


def _write(path: Path, values: Mapping[str, str] | Mapping[str, float]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    temporary.replace(path)
