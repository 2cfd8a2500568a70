"""Candidate answers of one question: spans from the reader, their sentences, what speaks for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit, Passage, ScoredSpan, Span

from ..corpora.sentences import sentence_spans
from ..reader.evidence import Features
from ..reader.sentence_answer import enclosing_sentences

MAX_CANDIDATES = 30


class Vectorizer(Protocol):
    """Texts to unit vectors, (n, width) float32."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""


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
    """The candidates of a question with their features, unordered.

    `readings[i]` are the spans of `hits[i]`, best first. The same words of the same document, read in
    two overlapping passages, are one candidate. Of all spans the MAX_CANDIDATES with the highest
    margin go on, the best of each passage first.
    """
    chosen = _strongest(readings)
    sentences = {id(scored): sentence_of(scored) for _, scored in chosen}
    similarity = _similarities(
        question.text, [sentences[id(scored)].text for _, scored in chosen], vectorizer
    )
    found = []
    for (i, scored), cosine in zip(chosen, similarity, strict=True):
        sentence, passage = sentences[id(scored)], hits[i].passage
        features = Features(
            margin=margin(scored),
            log_rank=float(np.log(hits[i].rank)),
            coverage=question.coverage(set(terms_of("\n".join([*passage.heading, passage.text])))),
            sentence_coverage=question.coverage(set(terms_of(sentence.text))),
            similarity=float(cosine),
        )
        found.append(Candidate(scored, sentence, features))
    return found


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


def passage_span(passage: Passage, start: int, end: int) -> Span:
    """The span of the document that [start, end) of a passage's text is."""
    return Span(passage.document_id, passage.start + start, passage.start + end, passage.text[start:end])


def _strongest(readings: Sequence[Sequence[ScoredSpan]]) -> list[tuple[int, ScoredSpan]]:
    ranked = sorted(
        (
            (place, -margin(scored), i, scored)
            for i, spans in enumerate(readings)
            for place, scored in enumerate(spans)
        ),
        key=lambda row: (min(row[0], 1), row[1], row[2]),
    )
    seen: set[Span] = set()
    chosen = []
    for _, _, i, scored in ranked:
        if scored.span not in seen and scored.span.text.strip():
            seen.add(scored.span)
            chosen.append((i, scored))
    return chosen[:MAX_CANDIDATES]


def _similarities(question: str, sentences: Sequence[str], vectorizer: Vectorizer) -> NDArray[np.float32]:
    if not sentences:
        return np.zeros(0, dtype=np.float32)
    distinct = list(dict.fromkeys(sentences))
    vectors = vectorizer.encode([question, *distinct])  # (1 + n, width), rows unit-norm
    cosine = dict(zip(distinct, vectors[1:] @ vectors[0], strict=True))
    return np.array([cosine[sentence] for sentence in sentences], dtype=np.float32)
