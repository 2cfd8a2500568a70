"""The candidate answers of one question: spans of the reader, their features and confidence.

For a declined question, also the section whose heading the question names.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from spanwise.types import AnswerSpan, Bounds, Document, Hit, Passage, PassageMass, ScoredSpan, Span

from ...corpora.sentences import sentence_spans
from ...eval.squad import normalize_answer
from ...index.analysis import Analyzer
from ...index.schema import indexed_text
from ...reader.evidence import (
    SHARED_PASSAGES,
    Calibration,
    CellFeatures,
    Features,
    plain_evidence,
    score_over_null,
)
from ...reader.spans import enclosing_blocks, enclosing_sentences, log_normalizer, whole_span
from ..understanding.question import Question
from .reading import Material, Readings
from .table_answers import TableResult

T = TypeVar("T")

MAX_CANDIDATES = 80
CACHED_PASSAGES = 512  # passages whose sentences are cached: 1 MB
SECTION_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class SpanCandidate:
    """A span of a passage that may answer, with its sentence."""

    scored: ScoredSpan
    sentence: Span
    features: Features


@dataclass(frozen=True, slots=True)
class CellCandidate:
    """Cells of a table, or a value of theirs, that may answer.

    scored: the first cell, with the scores of the span that the reader proposes there.
    sentence: its row.
    features: the features.
    result: the cells and the values.
    """

    scored: ScoredSpan
    sentence: Span
    features: CellFeatures
    result: TableResult


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its evidence.

    confidence: None without a calibration.
    date: of the document, where other versions have other words; see `versions`.
    versions: the candidates of other versions, in the order of `with_versions`.
    """

    evidence: float
    candidate: SpanCandidate | CellCandidate
    confidence: float | None
    date: str = ""
    versions: tuple["RankedCandidate", ...] = ()

    @property
    def result(self) -> TableResult | None:
        """The cells and the values; None for a span of a passage."""
        return self.candidate.result if isinstance(self.candidate, CellCandidate) else None


@lru_cache(CACHED_PASSAGES)
def passage_sentences(text: str) -> tuple[Bounds, ...]:
    """The `sentence_spans` of a passage's text, computed once for reader, candidates and summary."""
    return tuple(sentence_spans(text))


def span_candidates(material: Material, analyzer: Analyzer) -> list[SpanCandidate]:
    """The candidates in the passages with their features, unordered: the best span of each sentence.

    Spans grow to whole words and pairs of marks; those without words are left out. A sentence in two
    overlapping passages is one candidate, with the better span. At most MAX_CANDIDATES are kept: first the
    best of each passage, then others in the order of the passages.
    """
    question = material.question
    hits = material.hits
    proposals = _proposals(material.readings)
    passages = {proposal.place: proposal.scored.passage for proposal in proposals}
    texts = {place: indexed_text(passage) for place, passage in passages.items()}
    held = {place: question.identifiers_in(text).union(analyzer.terms(text)) for place, text in texts.items()}
    names = {
        place: analyzer.name_terms(passage.document_id) - held[place] for place, passage in passages.items()
    }
    others = _other_documents(question, [hit.passage for hit in hits], analyzer)
    masses = _masses(material.readings[:SHARED_PASSAGES])
    normalizer = log_normalizer(masses) if masses else 0.0
    return [
        SpanCandidate(
            proposal.scored,
            proposal.sentence,
            Features(
                margin=score_over_null(proposal.scored),
                log_rank=math.log(hits[proposal.place].rank),
                coverage=question.coverage(held[proposal.place] | names[proposal.place]),
                sentence_coverage=question.coverage(
                    names[proposal.place].union(
                        analyzer.terms(proposal.in_context), question.identifiers_in(proposal.in_context)
                    )
                ),
                relevance=_or_zero(proposal.scored.relevance),
                support=_or_zero(proposal.scored.support),
                agreeing=math.log1p(n_agreeing),
                length=math.log1p(len(proposal.scored.span.text.split())),
                log_probability=proposal.scored.score - normalizer if masses else 0.0,
                missing_name=question.rarest_name_without(
                    held[proposal.place] | names[proposal.place], proposal.scored.span.document_id
                ),
                other_document=others[proposal.scored.span.document_id],
            ),
        )
        for proposal, n_agreeing in zip(proposals, _n_agreeing(proposals), strict=True)
    ]


def ranked_candidates(
    candidates: Sequence[SpanCandidate], calibration: Calibration | None
) -> list[RankedCandidate]:
    """The candidate with most evidence, then the others by confidence, or by evidence without a calibration.

    Confidence is fitted for the first candidate, so that of the others is capped at its value. Ties keep the
    order of evidence.
    """
    scored = [
        (calibration.evidence(each.features) if calibration else certainty(each.scored), each)
        for each in candidates
    ]
    scored.sort(key=lambda row: (-row[0], row[1].scored.span.document_id, row[1].scored.span.start))
    if calibration is None:
        return [RankedCandidate(evidence, candidate, None) for evidence, candidate in scored]
    confidences = [calibration.confidence(evidence, each.features) for evidence, each in scored]
    ranked = [
        RankedCandidate(evidence, candidate, min(confidence, confidences[0]))
        for (evidence, candidate), confidence in zip(scored, confidences, strict=True)
    ]
    return sorted(ranked, key=lambda each: -(each.confidence or 0.0))


def without_overlaps(items: Sequence[T], span_of: Callable[[T], Span]) -> list[T]:
    """The items in order, without those whose span overlaps that of an earlier one."""
    taken: dict[Span, T] = {}
    for item in items:
        span = span_of(item)
        if not any(
            span.document_id == other.document_id and span.start < other.end and other.start < span.end
            for other in taken
        ):
            taken[span] = item
    return list(taken.values())


def answer_key(text: str) -> str:
    """The normalized words of an answer, as a key to compare answers; the text itself if no word is left.

    >>> answer_key("The Eiffel Tower."), answer_key("The")
    ('eiffel tower', 'The')
    """
    return normalize_answer(text) or text


def certainty(scored: ScoredSpan) -> float:
    """The plain evidence of a span; score plus relevance for a model that has no score for "no answer"."""
    plain = plain_evidence(scored)
    return scored.score + _or_zero(scored.relevance) if math.isnan(plain) else plain


def sentence_of(scored: ScoredSpan) -> Span:
    """The sentence or sentences of the passage that the span touches."""
    passage = scored.passage
    sentences = passage_sentences(passage.readable)
    start = scored.span.start - passage.start
    end = scored.span.end - passage.start
    return passage.span(*enclosing_sentences(sentences, start, end))


def statement_of(scored: ScoredSpan) -> Span:
    """The sentence that the span touches, without other blocks: of a record the lines with its keys alone."""
    passage = scored.passage
    sentence = sentence_of(scored)
    bounds = (scored.span.start - passage.start, scored.span.end - passage.start)
    first, last = enclosing_blocks(passage.readable, *bounds)
    return passage.span(max(first, sentence.start - passage.start), min(last, sentence.end - passage.start))


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A span with its sentence; `place` is the number of its passage among the hits."""

    place: int
    scored: ScoredSpan
    sentence: Span
    certainty: float

    @property
    def in_context(self) -> str:
        """The sentence under the last heading above it, which often names its topic."""
        return "\n".join([*self.scored.passage.heading[-1:], self.sentence.readable])


def _proposals(readings: Readings) -> list[_Proposal]:
    """The best span of each sentence; the best of each passage come first."""
    best: dict[Span, _Proposal] = {}
    for place, spans in enumerate(readings):
        for scored in spans:
            passage = scored.passage
            start = scored.span.start - passage.start
            bounds = whole_span(passage.readable, start, scored.span.end - passage.start)
            scored = replace(scored, span=passage.span(*bounds))
            if not any(map(str.isalnum, scored.span.text)):
                continue
            proposal = _Proposal(place, scored, sentence_of(scored), certainty(scored))
            rival = best.get(proposal.sentence)
            if rival is None or rival.certainty < proposal.certainty:
                best[proposal.sentence] = proposal
    in_order = sorted(best.values(), key=lambda each: (each.place, -each.certainty, each.scored.span.start))
    firsts = {each.place: each for each in reversed(in_order)}
    return sorted(in_order, key=lambda each: each is not firsts[each.place])[:MAX_CANDIDATES]


def _masses(readings: Readings) -> list[PassageMass]:
    """The mass of each passage with a span; empty if the reader does not give all of them."""
    firsts = [spans[0].mass for spans in readings if spans]
    masses = [mass for mass in firsts if mass is not None]
    return masses if len(masses) == len(firsts) else []


def _other_documents(question: Question, passages: Sequence[Passage], analyzer: Analyzer) -> dict[str, float]:
    """By document, how much less of the question its name holds than that of a document that is named.

    The question has all terms of the name, or of the title, of a document that it names.
    """
    shares: dict[str, float] = {}
    named = 0.0
    for passage in {passage.document_id: passage for passage in passages}.values():
        names = [
            analyzer.name_terms(passage.document_id.rpartition("/")[2]),
            frozenset(analyzer.question_terms(" ".join(passage.heading[:1]))),
        ]
        share = question.coverage(frozenset().union(*names))
        shares[passage.document_id] = share
        if any(name and name <= question.terms for name in names):
            named = max(named, share)
    return {document_id: max(0.0, named - share) for document_id, share in shares.items()}


def _n_agreeing(proposals: Sequence[_Proposal]) -> list[int]:
    """For each candidate the number of others with the same words; a repeated sentence counts once."""
    keys = [(answer_key(each.scored.span.readable), answer_key(each.sentence.readable)) for each in proposals]
    sentences: dict[str, set[str]] = {}
    for answer, sentence in keys:
        sentences.setdefault(answer, set()).add(sentence)
    return [len(sentences[answer]) - 1 for answer, _ in keys]


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


# Declined questions


def adds_words(text: str, terms: set[str], analyzer: Analyzer) -> bool:
    """True if the text has a term that is not in `terms`, the terms of the question."""
    return not terms >= set(analyzer.terms(text))


def topic_section(
    terms: set[str], hits: Sequence[Hit], document_of: Callable[[str], Document], analyzer: Analyzer
) -> tuple[Span, Passage] | None:
    """The first sentences of the section whose heading holds every term of the question.

    The shortest such heading wins, then a heading inside a passage that was read, then the better hit.
    """
    sections = [
        section
        for hit in hits
        for section in _sections(hit.passage, document_of(hit.passage.document_id))
        if terms <= set(analyzer.terms(section.heading))
    ]
    sections.sort(key=lambda each: (len(set(analyzer.terms(each.heading))), each.is_above))
    for section in sections:
        passage = section.passage
        spans = [
            (section.start + start, section.start + end)
            for start, end in sentence_spans(passage.readable[section.start : section.end])
        ]
        below = [span for span in spans if passage.text[slice(*span)].strip(" #\n") != section.heading]
        if below:
            last = below[:SECTION_SENTENCES][-1]
            return passage.span(below[0][0], last[1]), passage
    return None


@dataclass(frozen=True, slots=True)
class _Section:
    """The part of a passage below a heading; `is_above`: the heading is above the passage."""

    heading: str
    passage: Passage
    start: int
    end: int
    is_above: bool


def _sections(passage: Passage, document: Document) -> list[_Section]:
    """The sections of a passage: below the last heading above it, and below each heading inside."""
    inside = [
        (heading.start - passage.start, heading.text)
        for heading in document.headings
        if 0 <= heading.start - passage.start < len(passage.text)
    ]
    sections = []
    for start, heading in [*((-1, text) for text in passage.heading[-1:]), *inside]:
        begin = max(start, 0)
        end = min((other for other, _ in inside if other > begin), default=len(passage.text))
        sections.append(_Section(heading, passage, begin, end, start < 0))
    return sections


def answer_span(ranked: RankedCandidate) -> AnswerSpan:
    """The span of a candidate with its confidence, without its place."""
    scored = ranked.candidate.scored
    return AnswerSpan(
        span=scored.span,
        context=ranked.candidate.sentence,
        passage=scored.passage,
        score=scored.score,
        confidence=ranked.confidence,
        verdict=scored.verdict,
        date=ranked.date,
    )


def merge_same_answers(answers: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The answers in their order, best first, each with different words.

    Case, punctuation and articles are ignored. The best answer lists the others in `also_in`, in their order.
    Another passage is listed only if this is its highest-scored answer. An answer that repeats the words of a
    better one in its own passage is left out.
    """
    highest: dict[int, float] = {}
    by_words: dict[str, list[AnswerSpan]] = {}
    for answer in answers:
        passage_id = answer.passage.id
        highest[passage_id] = max(answer.score, highest.get(passage_id, answer.score))
        by_words.setdefault(answer_key(answer.span.readable), []).append(answer)
    merged = []
    for best, *others in by_words.values():
        agreeing: dict[int, AnswerSpan] = {}
        for other in others:
            if other.score == highest[other.passage.id] and other.passage.id != best.passage.id:
                agreeing.setdefault(other.passage.id, other)
        merged.append(replace(best, also_in=tuple(agreeing.values())))
    return merged
