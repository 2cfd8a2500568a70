"""Why the spans that came nearest to answering a declined question were not shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

from spanwise.types import AnswerSpan, QuestionWord, RejectedSpan, ScoredSpan

from ...index.analysis import Analyzer
from .question_words import Words, lacking

MOST = 3


def reasons(rejected: RejectedSpan, question: str) -> list[str]:
    """What spoke against a span, a phrase each, what decided first."""
    confidence, threshold = rejected.answer.confidence, rejected.threshold
    found = []
    if confidence is not None and threshold is not None and confidence < threshold:
        found.append(f"confidence {confidence:.0%} is below the threshold {_above(confidence, threshold)}")
    if rejected.margin is not None and rejected.margin < 0:
        found.append(f'"no answer" scores {-rejected.margin:.2f} higher in its passage')
    if rejected.lacks:
        found.append(f"its passage lacks {quoted(rejected.lacks, question)}")
    return found


def quoted(words: Sequence[QuestionWord], question: str) -> str:
    """The words in quotes.

    >>> quoted([QuestionWord(0, 3), QuestionWord(4, 7)], "the owl")
    '"the", "owl"'
    """
    return ", ".join(f'"{word.of(question)}"' for word in words)


def rejected_spans(
    shown: Sequence[AnswerSpan],
    read: Iterable[ScoredSpan],
    threshold: float | None,
    words: Words,
    analyzer: Analyzer,
) -> tuple[RejectedSpan, ...]:
    """The first `MOST` of `shown` that say something new; `read` are the spans of the reader, scored."""
    margins = {(scored.span, scored.passage.id): scored.score - scored.null_score for scored in read}
    distinct: dict[str, AnswerSpan] = {}
    for answer in shown:
        distinct.setdefault(" ".join(answer.text.casefold().split()), answer)
    found = []
    for answer in list(distinct.values())[:MOST]:
        margin = margins[answer.short, answer.passage.id]
        lacks = lacking(words, [answer.passage], analyzer)
        found.append(RejectedSpan(answer, threshold, None if isnan(margin) else margin, lacks))
    return tuple(found)


def _above(confidence: float, threshold: float) -> str:
    """The threshold in as many digits as it takes to look different from the confidence."""
    return f"{threshold:.0%}" if f"{threshold:.0%}" != f"{confidence:.0%}" else f"{threshold:.3%}"
