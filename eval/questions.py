"""Question sets about a folder, the record of each question that was asked, and the verdict on its answer.

A question set holds one JSON object a line. Required: "question", "answers" (acceptable strings, as in the
documents), "documents" (paths relative to the folder) and "answerable"; an unanswerable question has no
answers and no documents. Optional: "id" (default: the line's number), "type" (factoid, how, why or list;
default: factoid), "sentence" (the one that answers) and "no_shared_words" (question and sentence have no
content word in common).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from spanwise.types import AnswerSpan, Passage

from .squad import answer_tokens, f1_v1
from .text import contains_tokens

TYPES = ("factoid", "how", "why", "list")
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
    nothing was read. `confidence` is in 0..1. Times are in milliseconds by stage.
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
