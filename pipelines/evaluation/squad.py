"""SQuAD-style evaluation: our reader on the gold paragraphs, scored as the official scripts do."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.types import Passage

from ...corpora.squad import SquadDataset
from ...eval.squad import score_v1, score_v2
from ...reader.protocol import Reader
from ..candidates import margin
from ..progress import Report, silent

QUESTIONS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with its gold paragraph and the acceptable answers (none: unanswerable)."""

    id: str
    text: str
    context: str
    answers: tuple[str, ...]


def gold_questions(dataset: SquadDataset, limit: int | None = None, seed: int = 0) -> list[GoldQuestion]:
    """All questions in order, or `limit` of them drawn by the seed."""
    questions = [
        GoldQuestion(q.id, q.text, paragraph.context, tuple(answer.text for answer in q.answers))
        for article in dataset.articles
        for paragraph in article.paragraphs
        for q in paragraph.questions
    ]
    if limit is None or limit >= len(questions):
        return questions
    return [questions[i] for i in sorted(random.Random(seed).sample(range(len(questions)), limit))]


def predict(
    reader: Reader, questions: Sequence[GoldQuestion], may_decline: bool, report: Report = silent
) -> dict[str, str]:
    """The reader's answer to each question on its gold paragraph; "" where the null score wins, if it may."""
    predictions = {}
    for at in range(0, len(questions), QUESTIONS_AT_ONCE):
        batch = questions[at : at + QUESTIONS_AT_ONCE]
        passages = [[Passage(0, q.id, 0, len(q.context), q.context)] for q in batch]
        for question, [spans] in zip(
            batch, reader.read([q.text for q in batch], passages, n_best=1), strict=True
        ):
            declined = not spans or (
                may_decline and margin(spans[0]) < 0 and not math.isnan(spans[0].null_score)
            )
            predictions[question.id] = "" if declined else spans[0].span.text
        report("questions", at + len(batch), len(questions))
    return predictions


def score(version: str, questions: Sequence[GoldQuestion], predictions: dict[str, str]) -> dict[str, float]:
    """The keys of the official script of the file's version."""
    golds = {question.id: question.answers for question in questions}
    return score_v2(golds, predictions) if version == "2.0" else score_v1(golds, predictions)


def evaluate_squad(
    dataset: SquadDataset, reader: Reader, limit: int | None = None, seed: int = 0, report: Report = silent
) -> tuple[dict[str, float], dict[str, str]]:
    """The official figures of a reader on a data set, and its predictions by question id.

    In v1.1 every question is answered; in v2.0 a question is declined when the null score is higher.
    """
    questions = gold_questions(dataset, limit, seed)
    predictions = predict(reader, questions, dataset.version == "2.0", report)
    return score(dataset.version, questions, predictions), predictions
