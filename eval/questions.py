"""Question sets about a folder, records of their evaluation, and verdicts on answers.

A question set holds one JSON object per line. Required: "question", "answers" (acceptable strings, as in the
documents), "documents" (paths relative to the folder) and "answerable"; an unanswerable question has no
answers and no documents. Optional: "id" (default: the line's number), "type" (one of `TYPES`; default:
factoid), "sentence" (the one that answers), "no_shared_words" (question and sentence have no content word in
common), "verdict" (of a yes-no question: "yes" or "no") and "everyday" (true: asked in everyday words).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from spanwise.types import AnswerSpan, Passage, Span

from .squad import answer_tokens, f1_v1, normalize_answer
from .text import contains_tokens

TYPES = ("factoid", "how", "why", "consequence", "definition", "list", "yes-no", "how-to")
VERDICTS = ("yes", "no")
MIN_F1 = 0.6  # of a span that is right with other bounds than the gold answer
MAX_WORDS = 80  # of a right span
WORDS_PER_GOLD_WORD = 3  # of a right span, for the longest gold answer, plus
MORE_WORDS = 10
SHOWN_WORDS = 60  # of the sentence that is judged with a span
_WORD = re.compile(r"\S+")

SentenceSplitter = Callable[[str], Sequence[tuple[int, int]]]
"""The start and end of each sentence of a text."""


@dataclass(frozen=True, slots=True)
class FolderQuestion:
    """A question about a folder with its acceptable answers; the module lists the fields."""

    id: str
    question: str
    type: str
    answers: tuple[str, ...]
    documents: tuple[str, ...]
    answerable: bool
    sentence: str = ""
    no_shared_words: bool = False
    verdict: str = ""
    everyday: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that was read.

    document: the id of its document.
    start, end: code points of the document.
    text: of the passage.
    score: of the proposed answer, or of the passage.
    span: the proposed answer as text[start:end]; None without one.
    """

    document: str
    start: int
    end: int
    text: str
    score: float
    span: tuple[int, int] | None = None

    @classmethod
    def of_passage(cls, passage: Passage, score: float) -> Evidence:
        """The passage as evidence."""
        return cls(passage.document_id, passage.start, passage.end, passage.text, score)

    @classmethod
    def of_answer(cls, answer: AnswerSpan) -> Evidence:
        """The passage of an answer, with the span."""
        start = answer.passage.start
        span = (answer.span.start - start, answer.span.end - start)
        return replace(cls.of_passage(answer.passage, answer.score), span=span)


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """The result of one system for one question; comparisons need `system`, `id` and `scores` alone.

    system: the name of the system.
    id: of the question.
    question: its text.
    scores: by the name of the measure (`exact`, `f1`, `nDCG@10`), finite; higher is better.
    answerable: False for a question without a right answer.
    type: of the question.
    golds: the right answers.
    documents: the right documents.
    prediction: the answer; "" for a declined question, None when nothing was read.
    confidence: 0..1.
    timings_ms: milliseconds by stage.
    evidence: the passages.
    passages_read: the number of passages that were read.
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


def is_right(question: FolderQuestion, document: str, span: str, shown: str = "") -> bool:
    """True when an answer's span, or the text that is shown with it, answers the question.

    The document must be one of the question's. A gold answer must stand in the span or the shown text as
    SQuAD-normalised words, or have an F1 of at least 0.6 with the span. The span may have at most 80
    normalised words, and at most three times those of the longest gold answer plus ten.
    """
    if document not in question.documents or not question.answers:
        return False
    golds = [answer_tokens(gold) for gold in question.answers]
    words = answer_tokens(span)
    if len(words) > min(MAX_WORDS, WORDS_PER_GOLD_WORD * max(map(len, golds)) + MORE_WORDS):
        return False
    texts = (words, answer_tokens(shown))
    contains_gold = any(contains_tokens(text, gold) for gold in golds for text in texts)
    return contains_gold or any(f1_v1(gold, span) >= MIN_F1 for gold in question.answers)


def is_right_shown(question: FolderQuestion, span: Span, passage: Passage, split: SentenceSplitter) -> bool:
    """True when a span is right with the text that a user sees; see `is_right` and `shown_text`."""
    if span.document_id not in question.documents:
        return False
    return is_right(question, span.document_id, span.text, shown_text(span, passage, split))


def shown_text(span: Span, passage: Passage, split: SentenceSplitter) -> str:
    """The sentence of the span, cut to 60 words; the span alone if it touches several sentences.

    The words of the span stay, with the nearest words before and after it in equal numbers, or more on one
    side where the other has fewer. White space separates words.
    """
    text = passage.text
    start = span.start - passage.start
    end = span.end - passage.start
    touched = [(first, last) for first, last in split(text) if first < end and start < last]
    if len(touched) != 1:
        return span.text
    words = [match.span() for match in _WORD.finditer(text, *touched[0])]
    before = sum(word_end <= start for _, word_end in words)
    after = sum(word_start >= end for word_start, _ in words)
    spare = max(0, SHOWN_WORDS - (len(words) - before - after))
    kept_before = min(before, max(spare // 2, spare - after))
    kept_after = min(after, spare - kept_before)
    first_word = words[before - kept_before]
    last_word = words[len(words) - after + kept_after - 1]
    return text[first_word[0] : last_word[1]]


def holds_answer(question: FolderQuestion, passage: Passage) -> bool:
    """True when the passage is of a right document and holds a gold answer, as SQuAD-normalised words."""
    if passage.document_id not in question.documents:
        return False
    tokens = answer_tokens(passage.text)
    return any(contains_tokens(tokens, answer_tokens(gold)) for gold in question.answers)


def is_complete(question: FolderQuestion, steps: Sequence[Span]) -> bool | None:
    """True when the steps of an answer hold a gold list; None for a question without one.

    For the type "how-to" the list is all answers. Otherwise it is any answer of several lines.
    """
    words = answer_tokens(" ".join(step.text for step in steps if step.document_id in question.documents))
    is_how_to = question.type == "how-to"
    golds = [gold for gold in question.answers if is_how_to or "\n" in gold]
    held = [contains_tokens(words, answer_tokens(gold)) for gold in golds]
    return (all if is_how_to else any)(held) if held else None


def judge_computed(question: FolderQuestion, value: str) -> Verdict:
    """The verdict on a computed value, which is right if it has the words of an answer."""
    if not question.answerable:
        return Verdict.FALSE_ANSWER
    answers = {normalize_answer(answer) for answer in question.answers}
    return Verdict.RIGHT if normalize_answer(value) in answers else Verdict.WRONG


def judge_answer(question: FolderQuestion, answer: AnswerSpan | None, split: SentenceSplitter) -> Verdict:
    """The verdict on an answer as a user sees it; None is a declined question."""
    if answer is None:
        return Verdict.WRONGLY_DECLINED if question.answerable else Verdict.RIGHTLY_DECLINED
    if not question.answerable:
        return Verdict.FALSE_ANSWER
    right = is_right_shown(question, answer.span, answer.passage, split)
    return Verdict.RIGHT if right else Verdict.WRONG
