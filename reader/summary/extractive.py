"""Extractive summaries: sentences of passages, word for word, that say most about a question or in all.

Biased LexRank scores the sentences, fragments are scored down, and maximal marginal relevance takes them one
by one, none that repeats another. What a term is, and what else speaks for a sentence, is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spanwise.types import Passage, Span

from .fragments import FRAGMENT, LEANING, WHOLE, wholeness
from .lexrank import lexrank
from .mmr import mmr
from .opening import opening_factors
from .relevance import blended_relevance, scaled, term_relevance
from .repeats import is_repeat
from .similarity import (
    Floats,
    idf_modified_cosine,
    inverse_sentence_frequency,
    term_counts,
    vocabulary,
)

Terms = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a summary may be: so many sentences and, unless None, words, runs between white space."""

    sentences: int = 3
    words: int | None = None

    def __post_init__(self) -> None:
        """Refuse less than nothing."""
        if self.sentences < 0 or (self.words is not None and self.words < 0):
            raise ValueError(f"{self.sentences} sentences and {self.words} words; expected 0 or more")


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much; the values given are those that docs/summaries.md says how to choose.

    `bias` of the walk to the question, `plain_bias` without one, `trade` of MMR, `share` of the relevance
    that is handed in, `opening` of a document's first sentences; `leaning` and `fragment` are the factors of
    sentences that lean on others, and of what is none. What has less than `least` of the best relevance that
    is handed in, by its own times these factors, is not chosen.
    """

    bias: float = 0.9
    plain_bias: float = 0.15
    trade: float = 0.9
    share: float = 0.7
    opening: float = 1.0
    leaning: float = LEANING
    fragment: float = FRAGMENT
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A sentence of a summary: its place, the passage it was found in, and its score, at most 1."""

    span: Span
    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class _Sentence:
    row: int  # as they are given
    rank: int  # of the document: where the first of its passages stands
    span: Span
    passage: Passage


def extract(
    passages: Sequence[Passage],
    sentences: Sequence[Sequence[tuple[int, int]]],
    terms: Terms,
    question: Sequence[str] = (),
    limits: Limits = Limits(),
    weights: Weights = Weights(),
    relevance: Sequence[float] | None = None,
) -> tuple[Chosen, ...]:
    """The chosen sentences in reading order: documents as they were retrieved, in each by place.

    `sentences` are the spans of each passage's sentences in `passage.text`; `terms` are those of a text,
    `question` those of the question, without its stop words; `relevance` says how much each sentence has to
    do with it, at least 0, in the order of passages and spans. Without a question, or where no sentence has
    to do with it, the most central sentences are chosen. Of sentences that overlap in a document, as those of
    overlapping passages do, the first counts. One that no longer fits `limits.words` is passed over for
    the next that does. Each `span.text` stands word for word at its place, and which sentences are chosen
    does not depend on the order of the passages; ties go by (document id, start).

    ValueError: a span outside of its passage, another number of passages than of lists of spans, relevance
    that does not fit.
    """
    given = list(_sentences(passages, sentences))
    if relevance is not None and len(relevance) != len(given):
        raise ValueError(f"relevance of {len(relevance)} for {len(given)} sentences")
    kept = _apart(given)
    if relevance is not None:
        told = np.array([relevance[one.row] for one in kept])
        enough = told * _wholeness(kept, weights) >= weights.least * told.max(initial=0.0)
        kept = [one for one, is_enough in zip(kept, enough, strict=True) if is_enough]
    words = [list(terms(one.span.text)) for one in kept]
    score, likeness = _scored(
        words, question, weights, None if relevance is None else [relevance[one.row] for one in kept]
    )
    score = scaled(score * _wholeness(kept, weights) * _openings(kept, weights))
    fits = _Fits([one.span.text for one in kept], words, limits)
    order = mmr(score, likeness, weights.trade, limits.sentences, fits)
    order.sort(key=lambda at: (kept[at].rank, kept[at].span.start))
    return tuple(Chosen(kept[at].span, kept[at].passage, float(score[at])) for at in order)


def _sentences(
    passages: Sequence[Passage], sentences: Sequence[Sequence[tuple[int, int]]]
) -> Iterator[_Sentence]:
    """Every sentence in the order given."""
    if len(passages) != len(sentences):
        raise ValueError(f"{len(passages)} passages and {len(sentences)} lists of sentences")
    ranks: dict[str, int] = {}
    row = 0
    for passage, spans in zip(passages, sentences, strict=True):
        rank = ranks.setdefault(passage.document_id, len(ranks))
        for start, end in spans:
            if not 0 <= start < end <= len(passage.text):
                raise ValueError(
                    f"({start}, {end}) is no span of a passage of {len(passage.text)} characters"
                )
            place = passage.start + start, passage.start + end
            yield _Sentence(row, rank, Span(passage.document_id, *place, passage.text[start:end]), passage)
            row += 1


def _apart(given: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences by (document id, start), longest first, without those that overlap one before them."""
    kept: list[_Sentence] = []
    for one in sorted(
        given, key=lambda one: (one.span.document_id, one.span.start, -one.span.end, one.passage.start)
    ):
        last = kept[-1].span if kept else None
        if last is None or last.document_id != one.span.document_id or last.end <= one.span.start:
            kept.append(one)
    return kept


def _wholeness(kept: Sequence[_Sentence], weights: Weights) -> Floats:
    """(n,): the factors for whether a sentence can stand alone."""
    factors = {WHOLE: WHOLE, LEANING: weights.leaning, FRAGMENT: weights.fragment}
    return np.array([factors[wholeness(one.span.text)] for one in kept])


def _openings(kept: Sequence[_Sentence], weights: Weights) -> Floats:
    """(n,): the factors for where a sentence stands in its document."""
    documents, starts = [one.span.document_id for one in kept], [one.passage.start for one in kept]
    whole = [wholeness(one.span.text) > FRAGMENT for one in kept]
    return opening_factors(documents, starts, whole, weights.opening)


def _scored(
    words: Sequence[Sequence[str]],
    question: Sequence[str],
    weights: Weights,
    told: Sequence[float] | None,
) -> tuple[Floats, Floats]:
    """The score (n,) of each sentence and how alike they are (n, n)."""
    columns = vocabulary(words)
    counts = term_counts(words, columns)
    idf = inverse_sentence_frequency(counts)
    likeness = idf_modified_cosine(counts, idf)
    relevance = term_relevance(counts, term_counts([question], columns)[0], idf)
    if told is not None:
        relevance = blended_relevance(relevance, told, weights.share)
    bias = weights.bias if relevance.any() else weights.plain_bias
    return lexrank(likeness, relevance, bias), likeness


class _Fits:
    """Says of a candidate whether it can join those chosen: enough words are left, and it repeats none."""

    def __init__(self, texts: Sequence[str], terms: Sequence[Sequence[str]], limits: Limits) -> None:
        self._sizes = [len(text.split()) for text in texts]
        self._terms, self._limits = terms, limits

    def __call__(self, candidate: int, chosen: Sequence[int]) -> bool:
        used = sum(self._sizes[one] for one in chosen)
        if self._limits.words is not None and used + self._sizes[candidate] > self._limits.words:
            return False
        return not any(is_repeat(self._terms[candidate], self._terms[one]) for one in chosen)
