"""`eval squad`: answers on SQuAD's own paragraphs, by a reader or from a predictions file.

A result folder gets `predictions.json` and for version 2.0 `na_prob.json`, for which the official script
prints the same figures.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import Passage, ProgressCallback, ScoredSpan, no_progress

from ...corpora.datasets.squad import read_na_probabilities, read_predictions, read_squad
from ...eval.questions import Evidence, QuestionRecord
from ...eval.squad import na_probability, question_scores_v1, question_scores_v2, score_v1, score_v2
from ...models.model_files import file_sha256
from ...reader.evidence import score_over_null
from ...reader.protocol import Reader
from .corpus import GoldQuestion, document_id_of, gold_questions
from .results import ResultFolder

COMMAND = "squad"
QUESTIONS_AT_ONCE = 256
DECLINES_NOTHING = 1.0  # thresholds of the no-answer probability
NULL_WINS = 0.5


@dataclass(frozen=True, slots=True)
class SquadTask:
    """The questions of a SQuAD file, and how to score them.

    version: selects the rules.
    questions: the questions to ask.
    ids: of all questions of the file.
    threshold: a question with a higher no-answer probability is declined; None for the reader's default.
    settings: JSON values for a result folder.
    """

    version: str
    questions: tuple[GoldQuestion, ...]
    ids: frozenset[str]
    threshold: float | None
    settings: Mapping[str, Any]

    @property
    def declines(self) -> bool:
        """True for version 2.0, in which questions may be declined."""
        return self.version == "2.0"


def open_task(
    data: Path,
    limit: int | None = None,
    seed: int = 0,
    threshold: float | None = None,
    notify: Callable[[str], None] = print,
) -> SquadTask:
    """The task of a SQuAD file; `notify` gets a message about misplaced answers.

    DataMalformed: the file has another form, or holds no questions. ValueError: a threshold that is not
    finite, or one for version 1.1, in which every question has an answer.
    """
    dataset = read_squad(data)
    every = gold_questions(dataset.articles)
    if not every:
        raise DataMalformed(f"{data}: holds no questions")
    if threshold is not None and dataset.version != "2.0":
        raise ValueError(f"{data} is of version 1.1, which declines nothing; expected no threshold")
    if threshold is not None and not math.isfinite(threshold):
        raise ValueError(f"the threshold is {threshold}; expected a finite number")
    if dataset.relocated:
        problem = "does not start where the file says: moved to the nearest place"
        notify(f"{data}: {len(dataset.relocated):,} questions have an answer that {problem}")
    return SquadTask(
        dataset.version,
        tuple(gold_questions(dataset.articles, limit, seed)),
        frozenset(question.id for question in every),
        threshold,
        {
            "data": data.name,
            "data_sha256": file_sha256(data),
            "limit": limit,
            "seed": seed,
            "na_prob_thresh": threshold,
        },
    )


def evaluate_squad(
    task: SquadTask,
    reader: Reader,
    out: Path | None = None,
    system: str = "builtin",
    on_progress: ProgressCallback = no_progress,
) -> dict[str, float]:
    """The official figures of a reader; only questions without a record in the result folder are read.

    In version 1.1 every question is answered. In 2.0 one is declined when its no-answer probability, the
    sigmoid of null score minus best score, is above the threshold; by default 0.5, where the null score
    wins, or 1 for a reader without a null answer. A paragraph without a token has probability 1.
    """
    settings = {**task.settings, "reader": system, "reader_digest": reader.digest}
    results = ResultFolder.start(out, COMMAND, settings)
    recorded = set(results.question_ids(system))
    for begin in range(0, len(task.questions), QUESTIONS_AT_ONCE):
        batch = task.questions[begin : begin + QUESTIONS_AT_ONCE]  # the same ones when a run is resumed
        waiting = {question.id for question in batch} - recorded
        if waiting:
            read = _read(task, reader, system, batch)
            results.add(record for record in read if record.id in waiting)
            recorded |= waiting
        on_progress("questions", len(recorded), len(task.questions))
    records = results.records(system)
    predictions = {record.id: record.prediction or "" for record in records}
    probabilities = None
    if task.declines:
        probabilities = {
            record.id: na_probability(record.evidence[0].score) if record.evidence else 1.0
            for record in records
        }
    if out is not None:
        for name, values in (("predictions", predictions), ("na_prob", probabilities)):
            if values is not None:
                path = out / f"{name}.json"
                path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    figures = _score(task, predictions, probabilities)
    results.finish({system: dict(figures)})
    return figures


def evaluate_predictions(
    task: SquadTask,
    predictions: Path,
    na_probabilities: Path | None = None,
    out: Path | None = None,
    notify: Callable[[str], None] = print,
) -> dict[str, float]:
    """The official figures of a predictions file; the folder `out` gets a record of each question.

    `notify` gets messages about questions without a prediction (0 in version 1.1, left out in 2.0) and
    entries for unknown ids (ignored). DataMalformed: a file has another form, nothing in it can be scored, or
    a predicted question has no no-answer probability. ValueError: a threshold without probabilities, or
    probabilities for version 1.1.
    """
    if na_probabilities is not None and not task.declines:
        raise ValueError(
            f"{na_probabilities}: the data are of version 1.1, where every question has an answer"
        )
    if na_probabilities is None and task.threshold is not None:
        raise ValueError(f"the threshold {task.threshold} needs no-answer probabilities: name their file")
    answers = read_predictions(predictions)
    asked = len(task.questions)
    needed = [question.id for question in task.questions if question.id in answers]
    if not needed and task.declines:
        raise DataMalformed(f"{predictions}: no prediction for any of the {asked:,} questions")
    if len(needed) < asked:
        fate = "left out of every average" if task.declines else "they score 0"
        missing = asked - len(needed)
        notify(f"{missing:,} of {asked:,} questions have no prediction in {predictions}: {fate}")
    _notify_unknown(predictions, answers, task, notify)
    probabilities = None
    if na_probabilities is not None:
        probabilities = read_na_probabilities(na_probabilities, required_ids=needed)
        _notify_unknown(na_probabilities, probabilities, task, notify)
    threshold = DECLINES_NOTHING if task.threshold is None else task.threshold
    figures = _score(task, answers, probabilities, threshold)
    if out is not None:
        settings = {
            **task.settings,
            "predictions": predictions.name,
            "predictions_sha256": file_sha256(predictions),
            "na_probs_sha256": None if na_probabilities is None else file_sha256(na_probabilities),
        }
        declined = {qid for qid, p in (probabilities or {}).items() if p > threshold}
        system = predictions.name.removesuffix(".gz").removesuffix(".json") or predictions.name
        results = ResultFolder.start(out, COMMAND, settings)
        recorded = results.question_ids(system)
        results.add(
            _record(task, system, q, "" if q.id in declined else answers.get(q.id, ""))
            for q in task.questions
            if q.id not in recorded and (q.id in answers or not task.declines)
        )
        results.finish({system: dict(figures)})
    return figures


def _read(
    task: SquadTask, reader: Reader, system: str, batch: Sequence[GoldQuestion]
) -> Iterator[QuestionRecord]:
    """The records of some questions, each read on its own paragraph."""
    began = time.perf_counter()
    passages = [[Passage(0, q.id, 0, len(q.context), q.context)] for q in batch]
    read = reader.read([q.text for q in batch], passages, n_best=1)
    timings = {"read": 1000 * (time.perf_counter() - began) / len(batch)}
    for question, [spans] in zip(batch, read, strict=True):
        if not spans:
            yield _record(task, system, question, "", (), timings)
            continue
        best = spans[0]
        name = document_id_of(question.context)
        place = (best.span.start, best.span.end)
        evidence = Evidence(name, 0, len(question.context), question.context, score_over_null(best), place)
        prediction = "" if _is_declined(task, best) else best.span.text
        yield _record(task, system, question, prediction, (evidence,), timings)


def _record(
    task: SquadTask,
    system: str,
    question: GoldQuestion,
    prediction: str,
    evidence: tuple[Evidence, ...] = (),
    timings_ms: Mapping[str, float] | None = None,
) -> QuestionRecord:
    """The record of a prediction: `exact` and `f1`, 0..1, by the rules of the version."""
    scores_of = question_scores_v2 if task.declines else question_scores_v1
    exact, f1 = scores_of({question.id: question.answers}, {question.id: prediction})
    return QuestionRecord(
        system=system,
        id=question.id,
        question=question.text,
        scores={"exact": exact[question.id], "f1": f1[question.id]},
        answerable=bool(question.answers),
        type=question.type,
        golds=question.answers,
        documents=(document_id_of(question.context),) if question.answers else (),
        prediction=prediction,
        timings_ms=timings_ms or {},
        evidence=evidence,
    )


def _is_declined(task: SquadTask, best: ScoredSpan) -> bool:
    if not task.declines:
        return False
    default = DECLINES_NOTHING if math.isnan(best.null_score) else NULL_WINS
    return na_probability(score_over_null(best)) > (default if task.threshold is None else task.threshold)


def _score(
    task: SquadTask,
    predictions: Mapping[str, str],
    na_probabilities: Mapping[str, float] | None,
    threshold: float = DECLINES_NOTHING,
) -> dict[str, float]:
    """The figures of the official script of the file's version; above the threshold counts as declined."""
    golds = {question.id: question.answers for question in task.questions}
    if task.declines:
        return score_v2(golds, predictions, na_probabilities, threshold)
    return score_v1(golds, predictions)


def _notify_unknown(
    path: Path, entries: Mapping[str, object], task: SquadTask, notify: Callable[[str], None]
) -> None:
    unknown = sum(qid not in task.ids for qid in entries)
    if unknown:
        notify(f"{unknown:,} of {len(entries):,} entries in {path} are for ids not in the data: ignored")
