"""Candidate answers of one question: spans from the reader, their sentences, what speaks for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit, Passage, ScoredSpan, Span

from ..corpora.sentences import sentence_spans
from ..eval.squad_normalize import normalize_answer
from ..reader.evidence import Features, log_normaliser
from ..reader.question_type import question_type, type_fit
from ..reader.sentence_answer import enclosing_sentences, with_explanation
from ..retrieval.reranking import STAGE

MAX_CANDIDATES = 80


class Vectorizer(Protocol):
    """Texts to unit vectors, (n, width) float32."""

    def encode_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a question."""

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a passage or a part of one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span that may answer, its sentence, and the features that speak for it."""

    scored: ScoredSpan
    sentence: Span
    features: Features


@dataclass(frozen=True, slots=True)
class Question:
    """A question's text, its terms, and the idf of each term over the searched passages."""

    text: str
    terms: tuple[str, ...]
    idf: Mapping[str, float]

    def coverage(self, terms: set[str]) -> float:
        """The share of the question's idf mass that `terms` hold; 1 for a question without terms."""
        mass = sum(self.idf[term] for term in set(self.terms))
        return sum(self.idf[term] for term in set(self.terms) & terms) / mass if mass else 1.0


def candidates(
    question: Question,
    hits: Sequence[Hit],
    readings: Sequence[Sequence[ScoredSpan]],
    terms_of: Callable[[str], Sequence[str]],
    vectorizer: Vectorizer,
) -> list[Candidate]:
    """The candidates of a question with their features, unordered: the best span of each sentence.

    `readings[i]` are the spans of `hits[i]`, best first. A sentence that was read in two overlapping
    passages is one candidate, with the better of the two. At most MAX_CANDIDATES go on: the best of
    each passage, then all of the passages that rank first.
    """
    chosen = _chosen(readings)
    if not chosen:
        return []
    asked = vectorizer.encode_questions([question.text])[0]  # (width,)
    similarity = _similarities(asked, [in_context(one) for one in chosen], vectorizer)
    shares = _log_shares(chosen, readings)
    support = _support(chosen, shares)
    factoid = float(question_type(question.text) == "factoid")
    return [
        Candidate(
            one.scored,
            one.sentence,
            Features(
                margin=margin(one.scored),
                log_rank=math.log(hits[one.place].rank),
                coverage=question.coverage(set(terms_of(_with_heading(one.scored.passage)))),
                sentence_coverage=question.coverage(set(terms_of(in_context(one)))),
                similarity=float(similarity[i]),
                log_share=shares[i],
                agreement=math.fsum(support[i]),
                agreeing=math.log1p(len(support[i])),
                score_gap=_score_gap(hits, one.place),
                rerank=hits[one.place].scores.get(STAGE, 0.0),
                type_fit=type_fit(question.text, one.scored.span.text),
                log_words=math.log(max(1, len(one.scored.span.text.split()))),
                factoid=factoid,
                sentence=0.0 if math.isnan(one.scored.sentence_score) else one.scored.sentence_score,
            ),
        )
        for i, one in enumerate(chosen)
    ]


def said(text: str) -> str:
    """The words of an answer as they are compared with another's; the text itself where none are left.

    >>> said("The Eiffel Tower."), said("The")
    ('eiffel tower', 'The')
    """
    return normalize_answer(text) or text


@dataclass(frozen=True, slots=True)
class _Read:
    """A span with its sentence; `place` is the number of its passage among the hits."""

    place: int
    scored: ScoredSpan
    sentence: Span


def in_context(one: _Read) -> str:
    """A sentence under the last heading above it, which often names what the sentence is about."""
    return "\n".join([*one.scored.passage.heading[-1:], one.sentence.text])


def margin(scored: ScoredSpan) -> float:
    """Span score minus the null score of its passage; the bare score for a model without a null answer."""
    return scored.score - scored.null_score if scored.null_score == scored.null_score else scored.score


def sentence_of(scored: ScoredSpan) -> Span:
    """The sentence or sentences of the passage that the span touches."""
    passage = scored.passage
    start, end = enclosing_sentences(
        sentence_spans(passage.text), scored.span.start - passage.start, scored.span.end - passage.start
    )
    return passage_span(passage, start, end)


def explained(sentence: Span, passage: Passage) -> Span:
    """The sentence, with the next one where it is too short to explain anything."""
    place = sentence.start - passage.start, sentence.end - passage.start
    return passage_span(passage, *with_explanation(passage.text, sentence_spans(passage.text), place))


def passage_span(passage: Passage, start: int, end: int) -> Span:
    """The span of the document that [start, end) of a passage's text is."""
    return Span(passage.document_id, passage.start + start, passage.start + end, passage.text[start:end])


def _chosen(readings: Sequence[Sequence[ScoredSpan]]) -> list[_Read]:
    best: dict[Span, _Read] = {}
    for place, spans in enumerate(readings):
        for scored in spans:
            one = _Read(place, scored, sentence_of(scored))
            rival = best.get(one.sentence)
            if scored.span.text.strip() and (rival is None or margin(rival.scored) < margin(scored)):
                best[one.sentence] = one
    by_passage: dict[int, int] = {}
    ordered: list[tuple[int, int, _Read]] = []
    for one in sorted(best.values(), key=lambda one: (one.place, -margin(one.scored), one.scored.span.start)):
        by_passage[one.place] = by_passage.get(one.place, -1) + 1
        ordered.append((min(by_passage[one.place], 1), len(ordered), one))
    return [one for _, _, one in sorted(ordered, key=lambda row: row[:2])][:MAX_CANDIDATES]


def _log_shares(chosen: Sequence[_Read], readings: Sequence[Sequence[ScoredSpan]]) -> list[float]:
    whole = log_normaliser(readings)
    return [one.scored.score - whole for one in chosen]


def _support(chosen: Sequence[_Read], shares: Sequence[float]) -> list[list[float]]:
    """For each candidate the shares of others that say the same; a sentence that is repeated counts once."""
    by_words: dict[str, dict[str, float]] = {}
    for one, share in zip(chosen, shares, strict=True):
        sentences = by_words.setdefault(said(one.scored.span.text), {})
        words = said(one.sentence.text)
        sentences[words] = max(math.exp(share), sentences.get(words, 0.0))
    return [
        [
            share
            for sentence, share in by_words[said(one.scored.span.text)].items()
            if sentence != said(one.sentence.text)
        ]
        for one in chosen
    ]


def _score_gap(hits: Sequence[Hit], place: int) -> float:
    top, last = hits[0].score, hits[-1].score
    return (top - hits[place].score) / (top - last) if top > last else 0.0


def _with_heading(passage: Passage) -> str:
    return "\n".join([*passage.heading, passage.text])


def _similarities(
    asked: NDArray[np.float32], texts: Sequence[str], vectorizer: Vectorizer
) -> NDArray[np.float32]:
    distinct = list(dict.fromkeys(texts))
    cosine = dict(zip(distinct, vectorizer.encode_passages(distinct) @ asked, strict=True))
    return np.array([cosine[text] for text in texts], dtype=np.float32)
