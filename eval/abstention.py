"""Judging answers that may be declined: five verdicts, and how often each was given.

The judge is for a folder of documents with hand-written questions: an answer needs the right words and the
right file. It is mechanical and therefore crude in a stated way; see `is_right`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from spanwise.types import AnswerSpan, Passage

from .answer_match import contains_tokens
from .question_record import QuestionRecord
from .question_set import FolderQuestion
from .squad import f1_v1
from .squad_normalize import answer_tokens

LEAST_OVERLAP = 0.5
"""The F1 from which a part of a gold answer passes for the whole."""


class Verdict(StrEnum):
    """What became of one question."""

    RIGHT = "right"
    WRONG = "wrong"
    WRONGLY_DECLINED = "wrongly declined"
    RIGHTLY_DECLINED = "rightly declined"
    FALSE_ANSWER = "false answer"


def text_matches(gold: str, text: str) -> bool:
    """True when the text holds the gold answer, or is a part of it that says at least half.

    Both are compared as SQuAD-normalised words: either the gold's words stand in the text one after the
    other, or the text's words so stand in the gold's and their F1 is at least 0.5.

    >>> text_matches("gold mill", "the Gold Mill of Ann"), text_matches("old gold mill town", "mill")
    (True, False)
    """
    gold_tokens, tokens = answer_tokens(gold), answer_tokens(text)
    if contains_tokens(tokens, gold_tokens):
        return True
    return contains_tokens(gold_tokens, tokens) and f1_v1(gold, text) >= LEAST_OVERLAP


def is_right(question: FolderQuestion, answer: AnswerSpan) -> bool:
    """True when the answer's span or its sentence matches one of the golds, in one of the named documents.

    The sentence counts because it is shown with the span, and a person who reads it has the answer. Long
    texts are not punished for what else they say.
    """
    if answer.span.document_id not in question.documents:
        return False
    texts = (answer.span.text, answer.sentence.text)
    return any(text_matches(gold, text) for gold in question.answers for text in texts)


def holds_answer(question: FolderQuestion, passage: Passage) -> bool:
    """True when the passage is of a named document and holds a gold answer, as SQuAD-normalised words."""
    if passage.document_id not in question.documents:
        return False
    tokens = answer_tokens(passage.text)
    return any(contains_tokens(tokens, answer_tokens(gold)) for gold in question.answers)


def judge(question: FolderQuestion, answer: AnswerSpan | None) -> Verdict:
    """The verdict on one answer; None means that the question was declined."""
    if answer is None:
        return Verdict.WRONGLY_DECLINED if question.answerable else Verdict.RIGHTLY_DECLINED
    if not question.answerable:
        return Verdict.FALSE_ANSWER
    return Verdict.RIGHT if is_right(question, answer) else Verdict.WRONG


def verdict_of(record: QuestionRecord) -> Verdict | None:
    """The verdict that a kept record stands for; None where no answer was judged as right or wrong.

    An answer is right by its score `right`, or else by `exact`.

    >>> print(verdict_of(QuestionRecord("bm25", "q1", "Who?", {"exact": 1.0}, prediction="Ada")))
    right
    """
    if record.prediction is None or not {"right", "exact", "declined"} & set(record.scores):
        return None
    if not record.prediction:
        return Verdict.WRONGLY_DECLINED if record.answerable else Verdict.RIGHTLY_DECLINED
    if not record.answerable:
        return Verdict.FALSE_ANSWER
    return Verdict.RIGHT if record.scores.get("right", record.scores.get("exact")) == 1 else Verdict.WRONG


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """How often each verdict was given."""

    right: int = 0
    wrong: int = 0
    wrongly_declined: int = 0
    rightly_declined: int = 0
    false_answer: int = 0

    @property
    def answerable(self) -> int:
        """How many of the questions have an answer."""
        return self.right + self.wrong + self.wrongly_declined

    @property
    def absent(self) -> int:
        """How many of the questions have none."""
        return self.rightly_declined + self.false_answer


def count_verdicts(verdicts: Iterable[Verdict]) -> VerdictCounts:
    """The counts of the verdicts.

    >>> count_verdicts([Verdict.RIGHT, Verdict.RIGHT, Verdict.FALSE_ANSWER]).right
    2
    """
    return VerdictCounts(**Counter(verdict.name.lower() for verdict in verdicts))
