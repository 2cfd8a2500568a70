"""Why a question was declined: the nearest spans with the reasons against them, and its unknown words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

from spanwise.types import AnswerSpan, MissingTerm, Passage, QuestionTerm, RejectedSpan, ScoredSpan, Span

from ..index.analysis import Analyzer
from ..index.lexical import LivePostings
from ..index.schema import indexed_text
from ..index.snapshot import Snapshot

MAX_REJECTED = 3
MIN_LETTERS = 4  # of a word that is corrected: an edit makes another word of a shorter one
MAX_CORRECTED = 5  # words of a question, and passages of a term, that are looked at

Words = dict[str, QuestionTerm]
"""Each term of a question, and the word that it is first made from."""


def question_words(question: str, analyzer: Analyzer) -> Words:
    """The terms that a question is searched by, in its order, each with the first word that gives it.

    >>> list(question_words("Who built the mills, the mill?", Analyzer()).values())
    [QuestionTerm(start=4, end=9), QuestionTerm(start=14, end=19)]
    """
    wanted = set(analyzer.question_terms(question))
    words: Words = {}
    for token in analyzer.tokens(question):
        if (term := analyzer.term(token.word)) in wanted:
            words.setdefault(term, QuestionTerm(token.start, token.end))
    return words


def missing_terms(words: Words, passages: Sequence[Passage], analyzer: Analyzer) -> tuple[QuestionTerm, ...]:
    """The words that neither these passages nor the headings above them hold."""
    held = {term for passage in passages for term in analyzer.terms(indexed_text(passage))}
    return tuple(word for term, word in words.items() if term not in held)


def unknown_words(
    words: Words, postings: LivePostings, snapshot: Snapshot, analyzer: Analyzer
) -> tuple[MissingTerm, ...]:
    """The words that no passage of the index holds, the first few with a spelling suggestion."""
    df = postings.statistics(words).df
    unknown = [(term, word) for term, word in words.items() if not df[term]]
    near = [(word, _nearest(term, postings, snapshot, analyzer)) for term, word in unknown[:MAX_CORRECTED]]
    found = [MissingTerm(word, *(place or (None, None))) for word, place in near]
    return (*found, *(MissingTerm(word) for _, word in unknown[MAX_CORRECTED:]))


def rejected_spans(
    shown: Sequence[AnswerSpan],
    read: Iterable[ScoredSpan],
    threshold: float | None,
    words: Words,
    analyzer: Analyzer,
) -> tuple[RejectedSpan, ...]:
    """The first spans of `shown` with different words; `read` are the spans of the reader."""
    margins = {(scored.span, scored.passage.id): scored.score - scored.null_score for scored in read}
    distinct: dict[str, AnswerSpan] = {}
    for answer in shown:
        distinct.setdefault(" ".join(answer.text.casefold().split()), answer)
    found = []
    for answer in list(distinct.values())[:MAX_REJECTED]:
        margin = margins[answer.span, answer.passage.id]
        lacks = missing_terms(words, [answer.passage], analyzer)
        found.append(RejectedSpan(answer, threshold, None if isnan(margin) else margin, lacks))
    return tuple(found)


def reasons(rejected: RejectedSpan, question: str) -> list[str]:
    """The reasons against a span, a phrase each, the deciding one first."""
    confidence, threshold = rejected.answer.confidence, rejected.threshold
    found = []
    if confidence is not None and threshold is not None and confidence < threshold:
        digits = 0 if f"{threshold:.0%}" != f"{confidence:.0%}" else 3  # as many as show the difference
        found.append(f"confidence {confidence:.0%} is below the threshold {threshold:.{digits}%}")
    if rejected.margin is not None and rejected.margin < 0:
        found.append(f'"no answer" scores {-rejected.margin:.2f} higher in its passage')
    if rejected.missing_terms:
        missing = ", ".join(f'"{word.of(question)}"' for word in rejected.missing_terms)
        found.append(f"its passage lacks {missing}")
    return found


def _nearest(
    term: str, postings: LivePostings, snapshot: Snapshot, analyzer: Analyzer
) -> tuple[Span, Passage] | None:
    """The most common word within one edit, at a place in the text of a passage; None for a number."""
    if len(term) < MIN_LETTERS or any(character.isdigit() for character in term):
        return None
    for like in postings.spelled_like(term)[:MAX_CORRECTED]:
        rows = postings.find(like)[0][:MAX_CORRECTED]
        for passage in snapshot.passages(postings.passage_ids[rows].tolist()):
            for token in analyzer.tokens(passage.text):
                if analyzer.term(token.word) == like:
                    start, end = passage.start + token.start, passage.start + token.end
                    words = passage.text[token.start : token.end]
                    return Span(passage.document_id, start, end, words), passage
    return None
