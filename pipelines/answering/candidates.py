"""The candidate answers of one question: spans of the reader, their features and confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spanwise.types import Hit, Passage, PassageMass, ScoredSpan, Span

from ...corpora.sentences import sentence_spans
from ...eval.squad import normalize_answer
from ...index.schema import indexed_text
from ...reader.evidence import SHARED_PASSAGES, Calibration, Features, plain_evidence, score_over_null
from ...reader.spans import enclosing_sentences, log_normalizer

MAX_CANDIDATES = 80

Readings = Sequence[Sequence[ScoredSpan]]
"""The spans of each passage that was read, in the order of the hits; later hits were not read."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span that may answer, the sentence around it, and its features."""

    scored: ScoredSpan
    sentence: Span
    features: Features


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its evidence; `confidence` is None without a calibration."""

    evidence: float
    candidate: Candidate
    confidence: float | None


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
    question: Question, hits: Sequence[Hit], readings: Readings, terms_of: Callable[[str], Sequence[str]]
) -> list[Candidate]:
    """The candidates of a question with their features, unordered: the best span of each sentence.

    `readings[i]` are the spans of `hits[i]`, best first; those without words are left out. A sentence that
    was read in two overlapping passages is one candidate, with the better of the two. At most MAX_CANDIDATES
    are kept: the best of each passage, then all of the passages that rank first.
    """
    chosen = _chosen(readings)
    agreeing = _agreeing(chosen)
    masses = _masses(readings[:SHARED_PASSAGES])
    normalizer = log_normalizer(masses) if masses else 0.0
    return [
        Candidate(
            one.scored,
            one.sentence,
            Features(
                margin=score_over_null(one.scored),
                log_rank=math.log(hits[one.place].rank),
                coverage=question.coverage(set(terms_of(indexed_text(one.scored.passage)))),
                sentence_coverage=question.coverage(set(terms_of(_in_context(one)))),
                relevance=_or_zero(one.scored.relevance),
                support=_or_zero(one.scored.support),
                agreeing=math.log1p(others),
                length=math.log1p(len(one.scored.span.text.split())),
                log_probability=one.scored.score - normalizer if masses else 0.0,
            ),
        )
        for one, others in zip(chosen, agreeing, strict=True)
    ]


def ranked_candidates(found: Sequence[Candidate], calibration: Calibration | None) -> list[RankedCandidate]:
    """The candidates by evidence, best first; with a calibration the others follow by confidence.

    None is surer than the best one, for which the confidence was fitted. Ties keep the order of evidence.
    """
    scored = [
        (calibration.evidence(one.features) if calibration else certainty(one.scored), one) for one in found
    ]
    scored.sort(key=lambda row: (-row[0], row[1].scored.span.document_id, row[1].scored.span.start))
    if calibration is None:
        return [RankedCandidate(*row, None) for row in scored]
    sure = [calibration.confidence(evidence, one.features) for evidence, one in scored]
    ranked = [RankedCandidate(*row, min(one, sure[0])) for row, one in zip(scored, sure, strict=True)]
    return sorted(ranked, key=lambda one: -(one.confidence or 0.0))


def answer_key(text: str) -> str:
    """The normalized words of an answer, to compare answers by; the text itself where none are left.

    >>> answer_key("The Eiffel Tower."), answer_key("The")
    ('eiffel tower', 'The')
    """
    return normalize_answer(text) or text


def certainty(scored: ScoredSpan) -> float:
    """The plain evidence of a span; the bare score and the relevance for a model without a null answer."""
    plain = plain_evidence(scored)
    return scored.score + _or_zero(scored.relevance) if math.isnan(plain) else plain


def sentence_of(scored: ScoredSpan) -> Span:
    """The sentence or sentences of the passage that the span touches."""
    passage = scored.passage
    start, end = enclosing_sentences(
        sentence_spans(passage.text), scored.span.start - passage.start, scored.span.end - passage.start
    )
    return passage_span(passage, start, end)


def passage_span(passage: Passage, start: int, end: int) -> Span:
    """The span of the document that is [start, end) of a passage's text."""
    return Span(passage.document_id, passage.start + start, passage.start + end, passage.text[start:end])


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A span with its sentence; `place` is the number of its passage among the hits."""

    place: int
    scored: ScoredSpan
    sentence: Span


def _chosen(readings: Readings) -> list[_Chosen]:
    best: dict[Span, _Chosen] = {}
    for place, spans in enumerate(readings):
        for scored in spans:
            one = _Chosen(place, scored, sentence_of(scored))
            rival = best.get(one.sentence)
            has_words = any(map(str.isalnum, scored.span.text))
            if has_words and (rival is None or certainty(rival.scored) < certainty(scored)):
                best[one.sentence] = one
    in_order = sorted(
        best.values(), key=lambda one: (one.place, -certainty(one.scored), one.scored.span.start)
    )
    firsts = {one.place: one for one in reversed(in_order)}
    return sorted(in_order, key=lambda one: one is not firsts[one.place])[:MAX_CANDIDATES]


def _masses(readings: Readings) -> list[PassageMass]:
    """Those of the passages; none if the reader does not give that of each passage with a span."""
    firsts = [spans[0].mass for spans in readings if spans]
    masses = [mass for mass in firsts if mass is not None]
    return masses if len(masses) == len(firsts) else []


def _agreeing(chosen: Sequence[_Chosen]) -> list[int]:
    """For each candidate the number of others with the same words; a repeated sentence counts once."""
    keys = [(answer_key(one.scored.span.text), answer_key(one.sentence.text)) for one in chosen]
    sentences: dict[str, set[str]] = {}
    for words, sentence in keys:
        sentences.setdefault(words, set()).add(sentence)
    return [len(sentences[words]) - 1 for words, _ in keys]


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def _in_context(one: _Chosen) -> str:
    """A sentence under the last heading above it, which often names the topic of the sentence."""
    return "\n".join([*one.scored.passage.heading[-1:], one.sentence.text])
