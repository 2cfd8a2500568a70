"""`eval squad`: answers on SQuAD's own paragraphs, by a reader or from a predictions file.

With a result folder, `predictions.json` and for version 2.0 `na_prob.json` lie in it: the official script
gives the same figures for them.
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
DECLINES_NOTHING, NULL_WINS = 1.0, 0.5
PREDICTIONS, NA_PROBABILITIES = "predictions.json", "na_prob.json"


@dataclass(frozen=True, slots=True)
class SquadTask:
    """The questions to ask, the ids of all questions of the file, and the threshold to decline by.

    `version` selects the rules. A question is declined when its no-answer probability is above `threshold`,
    None where none was chosen. `settings` are kept in a result folder.
    """

    version: str
    questions: tuple[GoldQuestion, ...]
    ids: frozenset[str]
    threshold: float | None
    settings: Mapping[str, Any]


def open_task(
    data: Path,
    limit: int | None = None,
    seed: int = 0,
    threshold: float | None = None,
    notify: Callable[[str], None] = print,
) -> SquadTask:
    """The task of a SQuAD file; `notify` is called about misplaced answers.

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
    if ids := dataset.relocated:
        problem = "does not start where the file says: moved to the nearest place"
        notify(f"{data}: {len(ids):,} questions have an answer that {problem}")
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
    """The official figures of a reader; questions with a record in the result folder are not read again.

    In version 1.1 every question is answered. In 2.0 one is declined when its no-answer probability, the
    sigmoid of null score minus best score, is above the threshold; by default 0.5, where the null score
    wins, or 1 for a reader without a null answer. A paragraph without a token has probability 1.
    """
    settings = {**task.settings, "reader": system, "reader_digest": reader.digest}
    results = ResultFolder.start(out, COMMAND, settings)
    done = set(results.done(system))
    for at in range(0, len(task.questions), QUESTIONS_AT_ONCE):
        batch = task.questions[at : at + QUESTIONS_AT_ONCE]  # the same ones when a run is resumed
        if waiting := {question.id for question in batch} - done:
            records = _read(task, reader, system, batch)
            results.add(record for record in records if record.id in waiting)
            done |= waiting
        on_progress("questions", len(done), len(task.questions))
    by_id = {record.id: record for record in results.records(system)}
    predictions = {q.id: by_id[q.id].prediction or "" for q in task.questions}
    probabilities = None
    if task.version == "2.0":
        margins = {q.id: [one.score for one in by_id[q.id].evidence] for q in task.questions}
        probabilities = {qid: na_probability(one[0]) if one else 1.0 for qid, one in margins.items()}
    if out is not None:
        for name, values in ((PREDICTIONS, predictions), (NA_PROBABILITIES, probabilities)):
            if values is not None:
                (out / name).write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
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
    """The official figures of a predictions file; with `out`, a record of each question is kept there.

    `notify` is called about questions without a prediction (0 in version 1.1, left out in 2.0) and entries
    for unknown ids (ignored). DataMalformed: a file has another form, nothing in it can be scored, or a
    predicted question has no no-answer probability. ValueError: a threshold without probabilities, or
    probabilities for version 1.1.
    """
    if na_probabilities is not None and task.version != "2.0":
        raise ValueError(
            f"{na_probabilities}: the data are of version 1.1, where every question has an answer"
        )
    if na_probabilities is None and task.threshold is not None:
        raise ValueError(f"the threshold {task.threshold} needs no-answer probabilities: name their file")
    answers = read_predictions(predictions)
    asked = len(task.questions)
    needed = [question.id for question in task.questions if question.id in answers]
    if not needed and task.version == "2.0":
        raise DataMalformed(f"{predictions}: no prediction for any of the {asked:,} questions")
    if len(needed) < asked:
        fate = "left out of every average" if task.version == "2.0" else "they score 0"
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
        done = results.done(system)
        results.add(
            _record(task.version, system, q, "" if q.id in declined else answers.get(q.id, ""))
            for q in task.questions
            if q.id not in done and (q.id in answers or task.version != "2.0")
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
            yield _record(task.version, system, question, "", (), timings)
            continue
        best, name = spans[0], document_id_of(question.context)
        place = best.span.start, best.span.end
        evidence = Evidence(name, 0, len(question.context), question.context, score_over_null(best), place)
        prediction = "" if _is_declined(task, best) else best.span.text
        yield _record(task.version, system, question, prediction, (evidence,), timings)


def _record(
    version: str,
    system: str,
    question: GoldQuestion,
    prediction: str,
    evidence: tuple[Evidence, ...] = (),
    timings_ms: Mapping[str, float] | None = None,
) -> QuestionRecord:
    """The record of a prediction: `exact` and `f1`, 0..1, by the rules of the version."""
    scores_of = question_scores_v2 if version == "2.0" else question_scores_v1
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
    if task.version != "2.0":
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
    if task.version != "2.0":
        return score_v1(golds, predictions)
    return score_v2(golds, predictions, na_probabilities, threshold)


def _notify_unknown(
    path: Path, entries: Mapping[str, object], task: SquadTask, notify: Callable[[str], None]
) -> None:
    unknown = sum(qid not in task.ids for qid in entries)
    if unknown:
        notify(f"{unknown:,} of {len(entries):,} entries in {path} are for ids not in the data: ignored")
