"""`eval squad --predictions`: a predictions file is scored, and what does not fit the data set is told."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from ...eval.predictions import read_na_probabilities, read_predictions
from ...eval.question_record import QuestionRecord
from ...eval.squad import unanswered
from ...eval.squad_operating_points import answer_vs_no_answer, best_operating_points
from ...models.locate import file_sha256
from .result_folder import ResultFolder
from .squad import COMMAND, DECLINES_NOTHING, SquadTask, Tell, paragraph_evidence, question_record, score


def evaluate_predictions(
    task: SquadTask,
    predictions: Path,
    na_probabilities: Path | None = None,
    out: Path | None = None,
    tell: Tell = print,
) -> dict[str, float]:
    """The official figures of a predictions file; with `out`, the records of its questions are kept there.

    `tell` hears, counted: questions without a prediction (0 in version 1.1, left out in 2.0), and entries for
    ids that the data do not hold (ignored). `DataMalformed`: a file is not of the form, nothing in it can be
    scored, or a predicted question has no no-answer probability. ValueError: a threshold without
    probabilities, or probabilities for version 1.1.
    """
    _check(task, na_probabilities)
    answers = read_predictions(predictions)
    _tell_unanswered(task, predictions, answers, tell)
    _tell_unknown(predictions, answers, task.ids, tell)
    probabilities = None
    if na_probabilities is not None:
        needed = [question.id for question in task.questions if question.id in answers]
        probabilities = read_na_probabilities(na_probabilities, required_ids=needed)
        _tell_unknown(na_probabilities, probabilities, task.ids, tell)
    threshold = DECLINES_NOTHING if task.threshold is None else task.threshold
    figures = score(task, answers, probabilities, threshold)
    if out is not None:
        declined = {qid for qid, p in (probabilities or {}).items() if p > threshold}
        given = {qid: "" if qid in declined else text for qid, text in answers.items()}
        system = system_name(predictions)
        with ResultFolder.start(out, COMMAND, _settings(task, predictions, na_probabilities)) as results:
            done = results.done(system)
            results.add(record for record in _records(task, system, given) if record.id not in done)
            results.finish({system: figures | _details(task, answers, given, probabilities)})
    return figures


def _details(
    task: SquadTask,
    answers: Mapping[str, str],
    given: Mapping[str, str],
    probabilities: Mapping[str, float] | None,
) -> dict[str, Any]:
    """What the official script does not print, of version 2.0: see `squad_reader.evaluate_squad`."""
    if task.version != "2.0":
        return {}
    golds = {question.id: question.answers for question in task.questions if question.id in answers}
    found = {"AvNA": answer_vs_no_answer(golds, {qid: not given[qid] for qid in golds})}
    return found if probabilities is None else found | best_operating_points(golds, answers, probabilities)


def system_name(predictions: Path) -> str:
    """The name under which a predictions file is compared: its own, without `.json` and `.gz`.

    >>> system_name(Path("runs/bert-single.json.gz"))
    'bert-single'
    """
    return predictions.name.removesuffix(".gz").removesuffix(".json") or predictions.name


def _check(task: SquadTask, na_probabilities: Path | None) -> None:
    if na_probabilities is not None and task.version != "2.0":
        raise ValueError(
            f"{na_probabilities}: the data are of version 1.1, where every question has an answer"
        )
    if na_probabilities is None and task.threshold is not None:
        raise ValueError(
            f"the threshold {task.threshold} needs no-answer probabilities; expected a file of them"
        )


def _tell_unanswered(task: SquadTask, path: Path, answers: Mapping[str, str], tell: Tell) -> None:
    asked = len(task.questions)
    missing = len(unanswered({question.id: () for question in task.questions}, answers))
    if missing == asked and task.version == "2.0":
        raise DataMalformed(f"{path}: no prediction for any of the {asked:,} questions")
    if missing:
        fate = "left out of every average" if task.version == "2.0" else "they score 0"
        tell(f"{missing:,} of {asked:,} questions have no prediction in {path}: {fate}")


def _tell_unknown(path: Path, entries: Mapping[str, object], known: Collection[str], tell: Tell) -> None:
    unknown = sum(qid not in known for qid in entries)
    if unknown:
        tell(f"{unknown:,} of {len(entries):,} entries in {path} are for ids not in the data: ignored")


def _settings(task: SquadTask, predictions: Path, na_probabilities: Path | None) -> dict[str, object]:
    return {
        **task.settings,
        "predictions": predictions.name,
        "predictions_sha256": file_sha256(predictions),
        "na_probs_sha256": None if na_probabilities is None else file_sha256(na_probabilities),
    }


def _records(task: SquadTask, system: str, given: Mapping[str, str]) -> list[QuestionRecord]:
    """One record a question; a question without a prediction is a declined one in 1.1, and none in 2.0."""
    records = []
    for question in task.questions:
        if task.version != "2.0" or question.id in given:
            text = given.get(question.id, "")
            evidence = (paragraph_evidence(question, 0.0, _only_place(question.context, text)),)
            record = question_record(task.version, system, question, text, evidence)
            records.append(record)
    return records


def _only_place(context: str, text: str) -> tuple[int, int] | None:
    """Where the text stands in the context; None when that is nowhere or not certain."""
    if not text or context.count(text) != 1:
        return None
    return context.index(text), context.index(text) + len(text)
