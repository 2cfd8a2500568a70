"""Question sets about a folder, the record of each question that was asked, and the verdict on its answer.

A question set holds one JSON object a line. Required: "question", "answers" (acceptable strings, as in the
documents), "documents" (paths relative to the folder) and "answerable"; an unanswerable question has no
answers and no documents. Optional: "id" (default: the line's number), "type" (factoid, how, why or list;
default: factoid), "sentence" (the one that answers) and "no_shared_words" (question and sentence have no
content word in common).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import AnswerSpan, Passage

from .squad import answer_tokens, f1_v1
from .text import contains_tokens

TYPES = ("factoid", "how", "why", "list")
OPTIONAL = {"type": "factoid", "sentence": "", "no_shared_words": False}
MIN_OVERLAP = 0.5
"""The F1 from which a part of a gold answer counts as the whole."""


@dataclass(frozen=True, slots=True)
class FolderQuestion:
    """A question about a folder and its acceptable answers; see the module for the fields."""

    id: str
    question: str
    type: str
    answers: tuple[str, ...]
    sentence: str
    documents: tuple[str, ...]
    answerable: bool
    no_shared_words: bool


def read_question_set(path: Path) -> tuple[FolderQuestion, ...]:
    """The questions of a file, in its order; blank lines are ignored.

    DataMalformed, with the line: not JSON, a field that is missing, unknown or of the wrong type, an id
    given twice, or answers that contradict `answerable`.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error
    questions: dict[str, FolderQuestion] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = _question(json.loads(line), str(number))
        except (ValueError, RecursionError) as error:
            raise DataMalformed(f"{path}, line {number}: {error}") from error
        if question.id in questions:
            raise DataMalformed(f"{path}, line {number}: the id {question.id!r} is given twice")
        questions[question.id] = question
    return tuple(questions.values())


def _question(record: Any, default_id: str) -> FolderQuestion:
    names = {field.name for field in fields(FolderQuestion)}
    if not isinstance(record, dict):
        raise ValueError(f"expected an object, found {type(record).__name__}")
    record = {"id": default_id, **OPTIONAL, **record}
    if missing := sorted(names - set(record)):
        raise ValueError(f"the field {missing[0]} is missing")
    if unknown := sorted(set(record) - names):
        raise ValueError(f"the field {unknown[0]} is unknown; expected {', '.join(sorted(names))}")
    for name in ("id", "question", "sentence"):
        if not isinstance(record[name], str):
            raise ValueError(f"{name} is {record[name]!r}; expected a string")
    if not record["question"].strip():
        raise ValueError("the question is empty")
    for name in ("answerable", "no_shared_words"):
        if not isinstance(record[name], bool):
            raise ValueError(f"{name} is {record[name]!r}; expected true or false")
    for name in ("answers", "documents"):
        texts = record[name]
        if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
            raise ValueError(f"{name} is {texts!r}; expected an array of non-empty strings")
        if bool(texts) != record["answerable"]:
            raise ValueError(f"{name} has {len(texts)} items, but answerable is {record['answerable']}")
    if record["sentence"] and not record["answerable"]:
        raise ValueError(f"sentence is {record['sentence']!r}, but answerable is {record['answerable']}")
    if record["type"] not in TYPES:
        raise ValueError(f"type is {record['type']!r}; expected one of {', '.join(TYPES)}")
    tuples = {name: tuple(record[name]) for name in ("answers", "documents")}
    return FolderQuestion(**{**record, **tuples})


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that was read: its text and its place in the document.

    `span` is the place of the proposed answer in `text`, None without one.
    """

    document: str
    start: int
    end: int
    text: str
    score: float
    span: tuple[int, int] | None = None

    @classmethod
    def from_passage(cls, passage: Passage, score: float, span: tuple[int, int] | None = None) -> Evidence:
        """The passage as evidence."""
        return cls(passage.document_id, passage.start, passage.end, passage.text, score, span)


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """What one system did with one question; comparisons need `system`, `id` and `scores` alone.

    `scores` are by the name of the measure (`exact`, `f1`, `nDCG@10`), finite, higher is better. `golds` and
    `documents` are the right answers and documents. `prediction` is "" for a declined question and None when
    nothing was read. `confidence` is in 0..1. Times are in milliseconds by stage. `ranking` holds the
    documents found, best first, with their scores.
    """

    system: str
    id: str
    question: str
    scores: Mapping[str, float]
    answerable: bool = True
    type: str = ""
    golds: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    prediction: str | None = None
    confidence: float | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    passages_read: int | None = None
    ranking: tuple[tuple[str, float], ...] = ()


def record_line(record: QuestionRecord) -> str:
    """The record as one line of JSON, without its end; ValueError for a score that is not finite."""
    return json.dumps(asdict(record), ensure_ascii=False, allow_nan=False)


def parse_record(line: str) -> QuestionRecord:
    """The record of a line; ValueError states the problem.

    >>> parse_record('{"system": "bm25", "id": "q1", "question": "Who?", "scores": {"exact": 1}}').scores
    {'exact': 1.0}
    """
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, found {type(value).__name__}")
    names = {one.name for one in fields(QuestionRecord)}
    if unknown := sorted(set(value) - names):
        raise ValueError(f"the field {unknown[0]!r} is unknown; expected {', '.join(sorted(names))}")
    for name in ("system", "id", "question"):
        if not isinstance(value.get(name), str):
            raise ValueError(f"{name} is {value.get(name)!r}; expected a string")
    scores = value.get("scores")
    if not isinstance(scores, dict) or not all(_is_number(score) for score in scores.values()):
        raise ValueError(f"scores is {scores!r:.80}; expected an object of finite numbers")
    try:
        return QuestionRecord(
            **{
                **value,
                "scores": {name: float(score) for name, score in scores.items()},
                "golds": tuple(value.get("golds", ())),
                "documents": tuple(value.get("documents", ())),
                "evidence": tuple(_evidence(**one) for one in value.get("evidence", ())),
                "ranking": tuple((str(name), float(score)) for name, score in value.get("ranking", ())),
            }
        )
    except TypeError as error:
        raise ValueError(f"a field has another form than expected: {error}") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _evidence(span: list[int] | None = None, **fields: Any) -> Evidence:
    return Evidence(**fields, span=None if span is None else (span[0], span[1]))


class Verdict(StrEnum):
    """The judgement of one question."""

    RIGHT = "right"
    WRONG = "wrong"
    WRONGLY_DECLINED = "wrongly declined"
    RIGHTLY_DECLINED = "rightly declined"
    FALSE_ANSWER = "false answer"


def text_matches(gold: str, text: str) -> bool:
    """True when the text holds the gold answer, or is a part of it with an F1 of at least 0.5.

    Both are compared as SQuAD-normalised words that occur one after the other.

    >>> text_matches("gold mill", "the Gold Mill of Ann"), text_matches("old gold mill town", "mill")
    (True, False)
    """
    gold_tokens, tokens = answer_tokens(gold), answer_tokens(text)
    if contains_tokens(tokens, gold_tokens):
        return True
    return contains_tokens(gold_tokens, tokens) and f1_v1(gold, text) >= MIN_OVERLAP


def is_right(question: FolderQuestion, answer: AnswerSpan) -> bool:
    """True when the answer's span or its sentence matches one of the golds, in one of the named documents.

    The sentence counts because it is shown with the span. Long texts are not punished for what else they say.
    """
    if answer.span.document_id not in question.documents:
        return False
    texts = (answer.span.text, answer.context.text)
    return any(text_matches(gold, text) for gold in question.answers for text in texts)


def holds_answer(question: FolderQuestion, passage: Passage) -> bool:
    """True when the passage is of a named document and holds a gold answer, as SQuAD-normalised words."""
    if passage.document_id not in question.documents:
        return False
    tokens = answer_tokens(passage.text)
    return any(contains_tokens(tokens, answer_tokens(gold)) for gold in question.answers)


def judge_answer(question: FolderQuestion, answer: AnswerSpan | None) -> Verdict:
    """The verdict on one answer; None is a declined question."""
    if answer is None:
        return Verdict.WRONGLY_DECLINED if question.answerable else Verdict.RIGHTLY_DECLINED
    if not question.answerable:
        return Verdict.FALSE_ANSWER
    return Verdict.RIGHT if is_right(question, answer) else Verdict.WRONG
