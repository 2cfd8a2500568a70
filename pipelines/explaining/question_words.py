"""The words of a question that carry its meaning, which of them a passage lacks, and which no passage has."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.types import Passage, QuestionWord, Span, UnknownWord

from ...index.analysis import Analyzer
from ...index.lexical import LivePostings
from ...index.schema import indexed_text
from ...index.snapshot import Snapshot

SHORTEST = 4  # letters of a word that a like one is looked for: an edit makes another word of a shorter one
MOST = 5  # words of a question, and passages of a term, that are looked at

Words = dict[str, QuestionWord]
"""Each term of a question, and the word that it is first made from."""


def question_words(question: str, analyzer: Analyzer) -> Words:
    """The terms that a question is searched by, in its order, each with the first word that gives it.

    >>> list(question_words("Who built the mills, the mill?", Analyzer()).values())
    [QuestionWord(start=4, end=9), QuestionWord(start=14, end=19)]
    """
    wanted = set(analyzer.question_terms(question))
    words: Words = {}
    for token in analyzer.tokens(question):
        if (term := analyzer.term(token.word)) in wanted:
            words.setdefault(term, QuestionWord(token.start, token.end))
    return words


def lacking(words: Words, passages: Sequence[Passage], analyzer: Analyzer) -> tuple[QuestionWord, ...]:
    """The words that none of these passages holds, nor a heading above them."""
    held = {term for passage in passages for term in analyzer.terms(indexed_text(passage))}
    return tuple(word for term, word in words.items() if term not in held)


def unknown_words(
    words: Words, postings: LivePostings, snapshot: Snapshot, analyzer: Analyzer
) -> tuple[UnknownWord, ...]:
    """The words that no passage of the index holds, and what the first few may have been meant for."""
    df = postings.statistics(words).df
    unknown = [(term, word) for term, word in words.items() if not df[term]]
    meant = [(word, _meant(term, postings, snapshot, analyzer)) for term, word in unknown[:MOST]]
    found = [UnknownWord(word, *(place or (None, None))) for word, place in meant]
    return (*found, *(UnknownWord(word) for _, word in unknown[MOST:]))


def _meant(
    term: str, postings: LivePostings, snapshot: Snapshot, analyzer: Analyzer
) -> tuple[Span, Passage] | None:
    """The most common word within one edit, where it stands in the text of a passage; None for a figure."""
    if len(term) < SHORTEST or any(character.isdigit() for character in term):
        return None
    for like in postings.spelled_like(term)[:MOST]:
        rows = postings.find(like)[0][:MOST]
        for passage in snapshot.passages(postings.passage_ids[rows].tolist()):
            for token in analyzer.tokens(passage.text):
                if analyzer.term(token.word) == like:
                    start, end = passage.start + token.start, passage.start + token.end
                    words = passage.text[token.start : token.end]
                    return Span(passage.document_id, start, end, words), passage
    return None
