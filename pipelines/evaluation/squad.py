"""SQuAD-style questions on their own paragraphs: what is asked, what it scores, and the record of it.

Two things can be judged: a reader (`squad_reader`) and a predictions file (`squad_predictions`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import Passage, ProgressCallback, ScoredSpan, no_progress

from ...corpora.squad import SquadDataset, read_squad
from ...eval.question_record import Evidence, QuestionRecord
from ...eval.squad import question_scores_v1, question_scores_v2, score_v1, score_v2
from ...eval.squad_na_probability import score_v2_with_na
from ...models.locate import file_sha256
from ...reader.protocol import Reader
from ..candidates import score_over_null
from ..paragraph_index import document_id_of

COMMAND = "squad"
QUESTIONS_AT_ONCE = 256
DECLINES_NOTHING = 1.0

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with its gold paragraph and the acceptable answers (none: unanswerable)."""

    id: str
    text: str
    context: str
    answers: tuple[str, ...]
    type: str = ""


def gold_questions(dataset: SquadDataset, limit: int | None = None, seed: int = 0) -> list[GoldQuestion]:
    """All questions in order, or `limit` of them drawn by the seed."""
    questions = [
        GoldQuestion(q.id, q.text, paragraph.context, tuple(answer.text for answer in q.answers), q.type)
        for article in dataset.articles
        for paragraph in article.paragraphs
        for q in paragraph.questions
    ]
    if limit is None or limit >= len(questions):
        return questions
    return [questions[i] for i in sorted(random.Random(seed).sample(range(len(questions)), limit))]


@dataclass(frozen=True, slots=True)
class SquadTask:
    """The questions of a file that are asked, the ids of all its questions, and when one is declined.

    `version` decides the rules. A question is declined when its no-answer probability is above `threshold`,
    None where none was chosen. `settings` are those that a result folder keeps.
    """

    version: str
    questions: tuple[GoldQuestion, ...]
    ids: frozenset[str]
    threshold: float | None
    settings: Mapping[str, Any]


def open_task(
    data: Path, limit: int | None = None, seed: int = 0, threshold: float | None = None, tell: Tell = print
) -> SquadTask:
    """The task of a file, SQuAD's or SubjQA's; `tell` hears of answers that were moved or stand nowhere.

    `DataMalformed`: the file is not of the form, or holds no questions. ValueError: a threshold that is not
    finite, or one for version 1.1, in which every question has an answer.
    """
    dataset = read_squad(data)
    every = gold_questions(dataset)
    if not every:
        raise DataMalformed(f"{data}: holds no questions")
    if threshold is not None and dataset.version != "2.0":
        raise ValueError(f"{data} is of version 1.1, which declines nothing; expected no threshold")
    if threshold is not None and not math.isfinite(threshold):
        raise ValueError(f"the threshold is {threshold}; expected a finite number")
    if dataset.relocated:
        moved = f"{len(dataset.relocated):,} of {len(every):,} questions in {data}"
        tell(f"{moved} have an answer that does not start where they say: moved to the nearest place")
    if dataset.left_out:
        gone, total = len(dataset.left_out), len(every) + len(dataset.left_out)
        tell(f"{gone:,} of {total:,} questions in {data} have an answer that stands nowhere: left out")
    settings = {"data": data.name, "data_sha256": file_sha256(data), "limit": limit, "seed": seed}
    return SquadTask(
        dataset.version,
        tuple(gold_questions(dataset, limit, seed)),
        frozenset(question.id for question in every),
        threshold,
        {**settings, "na_prob_thresh": threshold},
    )


def batches(questions: Sequence[GoldQuestion]) -> Iterator[Sequence[GoldQuestion]]:
    """The questions in groups that are read together, always the same ones."""
    for at in range(0, len(questions), QUESTIONS_AT_ONCE):
        yield questions[at : at + QUESTIONS_AT_ONCE]


def best_spans(reader: Reader, questions: Sequence[GoldQuestion]) -> list[ScoredSpan | None]:
    """The reader's best span in each question's own paragraph; None where the paragraph holds no token."""
    passages = [[Passage(0, q.id, 0, len(q.context), q.context)] for q in questions]
    read = reader.read([q.text for q in questions], passages, n_best=1)
    return [spans[0] if spans else None for [spans] in read]


def predict(
    reader: Reader,
    questions: Sequence[GoldQuestion],
    may_decline: bool,
    report: ProgressCallback = no_progress,
) -> dict[str, str]:
    """The reader's answer to each question on its gold paragraph; "" where the null score wins, if it may."""
    predictions: dict[str, str] = {}
    for batch in batches(questions):
        for question, best in zip(batch, best_spans(reader, batch), strict=True):
            declined = best is None or (
                may_decline and score_over_null(best) < 0 and not math.isnan(best.null_score)
            )
            predictions[question.id] = "" if best is None or declined else best.span.text
        report("questions", len(predictions), len(questions))
    return predictions


def score(
    task: SquadTask,
    predictions: Mapping[str, str],
    na_probabilities: Mapping[str, float] | None = None,
    threshold: float = DECLINES_NOTHING,
) -> dict[str, float]:
    """The keys of the official script of the file's version.

    `na_probabilities` are for version 2.0 alone; questions above the threshold count as declined.
    """
    golds = {question.id: question.answers for question in task.questions}
    if task.version != "2.0":
        return score_v1(golds, predictions)
    if na_probabilities is None:
        return score_v2(golds, predictions)
    return score_v2_with_na(golds, predictions, na_probabilities, threshold)


def question_record(
    version: str,
    system: str,
    question: GoldQuestion,
    prediction: str,
    evidence: tuple[Evidence, ...] = (),
    timings_ms: Mapping[str, float] | None = None,
) -> QuestionRecord:
    """What a system did with a question: `exact` and `f1`, 0..1, by the rules of the version."""
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


def paragraph_evidence(question: GoldQuestion, score: float, span: tuple[int, int] | None) -> Evidence:
    """The question's own paragraph, with where an answer was proposed in it."""
    context = question.context
    return Evidence(document_id_of(context), 0, len(context), context, score, span)
