"""The statement that answers a question, when the passage of the answer carries all that it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.types import AnswerSpan

from ...corpora.sentences import sentence_spans
from ...reader.statement import as_written, statement, unhedged, unsaid
from ...reader.support.check import Checker
from ...reader.support.verdict import Support, Verdict

NAME = "statement"


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement and what the check of it found."""

    text: str
    support: Support


def stated_answer(question: str, best: AnswerSpan, checker: Checker) -> Stated | None:
    """The statement of an answer that its passage, with the headings above it, supports; else None.

    None, too, for an answer that is longer than the reader's own span: that is sentences already.
    """
    if best.span != best.short:
        return None
    evidence = evidence_of(best.passage.text, best.passage.heading)
    return supported(question, best.short.text, best.sentence.text, evidence, checker)


def evidence_of(passage: str, heading: Sequence[str]) -> list[str]:
    """The sentences of a passage and the headings above it."""
    return [*(passage[start:end] for start, end in sentence_spans(passage)), *heading]


def supported(
    question: str, answer: str, sentence: str, evidence: Sequence[str], checker: Checker
) -> Stated | None:
    """The statement of an answer, if the check supports it and every word that carries a meaning is evident.

    The second condition is stricter than the check, whose score forgives some words: a question takes for
    granted what it likes, and what the evidence does not say is never said for it. Nor is a sentence turned
    that says "almost" or "allegedly" where the statement does not. A question in small letters gets the
    capitals of the evidence.
    """
    text = statement(as_written(question, evidence), answer, sentence)
    if text is None or unhedged(text, sentence) or unsaid(text, evidence, checker.content):
        return None
    support = checker.check(text, evidence)
    return Stated(text, support) if support.verdict == Verdict.SUPPORTED else None
