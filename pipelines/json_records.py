"""Results as JSON values, in the shapes that other programs rely on."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from spanwise.types import (
    Answer,
    AnswerSpan,
    CheckedQuote,
    Citation,
    Computed,
    FilterResult,
    Hit,
    ModelReading,
    Passage,
    QuestionTerm,
    SearchResult,
    Span,
    Spelling,
    Summary,
    SummarySentence,
    SyncReport,
)

from .plain_text import asked, language_hint, shown, shown_sentence

if TYPE_CHECKING:
    from .answering.explain import Explanation, ScoreBreakdown, StageRank

Record = dict[str, Any]
"""A JSON object."""


def answer_record(answer: Answer) -> Record:
    """The JSON of `ask --json` for one question: its "answer", or None with "candidates" and "nearest"."""
    return {
        "question": answer.question,
        "understood": answer.understood,
        "outcome": answer.outcome,
        "decided_by": answer.decided_by,
        "written": [written_record(sentence) for sentence in answer.written],
        "model": model_record(answer.model) if answer.model else None,
        "values": list(answer.values),
        "answer": answer_span_record(answer.best) if answer.best else None,
        "computed": computed_record(answer.computed) if answer.computed else None,
        "candidates": [answer_span_record(each) for each in answer.candidates],
        "table": asdict(answer.table) if answer.table else None,
        "parts": [answer_span_record(part) for part in answer.parts],
        "steps": [{**span_record(step), "line": step.line, "display": shown(step)} for step in answer.steps],
        "alternatives": [answer_span_record(other) for other in answer.alternatives],
        "otherwise": [answer_span_record(other) for other in answer.otherwise],
        "searched": {
            "documents": answer.documents_searched,
            "passages": answer.passages_searched,
            "passages_read": answer.passages_read,
            "passages_unread": answer.passages_unread,
            "best_rejected": answer_span_record(answer.best_rejected) if answer.best_rejected else None,
            "rejected": [answer_span_record(each) for each in answer.rejected],
            "unknown_words": [
                {**word_record(word, asked(answer)), "nearest": None} for word in answer.missing_terms
            ],
        },
        **spelling_record(answer),
        "unread_files": answer.unread_files,
        "note": answer.note,
        "hint": language_hint(answer.question) if answer.no_answer else "",
        "nearest": [hit_record(hit) for hit in answer.nearest] if answer.no_answer else [],
        "threshold": answer.threshold,
        "retriever": answer.retriever,
        "cached": answer.cached,
        "timings_ms": {stage: round(value, 2) for stage, value in answer.timings_ms.items()},
        **filter_record(answer.scope),
        **partial_record(answer.left_out),
        **({"failure": answer.failure} if answer.failure else {}),
    }


def answer_span_record(answer: AnswerSpan) -> Record:
    """One answer; offsets are code points of the document's stored text."""
    passage = answer.passage
    return {
        **place_record(answer),
        "verdict": answer.verdict,
        "verdict_confidence": answer.verdict_confidence,
        "match": answer.match,
        "date": answer.date,
        "sentence": answer.context.text,
        "display_sentence": shown(answer.context),
        "score": answer.score,
        "confidence": answer.confidence,
        "passage": {key: getattr(passage, key) for key in ("id", "start", "end", "text")},
        "duplicates": [duplicate_record(passage) for passage in answer.duplicates],
        "agreeing": [place_record(other) for other in answer.also_in],
    }


def written_record(sentence: SummarySentence) -> Record:
    """The JSON of a sentence with its citations."""
    return {
        "text": sentence.text,
        "citations": [
            {"number": each.number, "match": each.match, "date": each.date, **place_record(each)}
            for each in sentence.citations
        ],
        "findings": [asdict(finding) for finding in sentence.findings],
        "underlined": list(sentence.underlined),
        "is_quote": sentence.is_quote,
    }


def model_record(model: ModelReading) -> Record:
    """How a model answered."""
    record = asdict(model)
    return record | {"dropped": [written_record(sentence) for sentence in model.dropped]}


def computed_record(computed: Computed) -> Record:
    """A computed value with its cells, of which the first has its place, or with its documents."""
    names = computed.cell_names or [""] * len(computed.cells)
    return {
        "operation": computed.operation,
        "value": computed.value,
        "cells": [
            {**span_record(cell), "name": name} for cell, name in zip(computed.cells, names, strict=True)
        ],
        "first": answer_span_record(computed.first) if computed.first else None,
        "words": computed.words,
        "documents": [
            {
                "document": each.document_id,
                "count": each.count,
                "copy_of": each.copy_of,
                "places": [
                    {**place_record(place), "display_sentence": shown(place.context)} for place in each.places
                ],
            }
            for each in computed.documents
        ],
        "near": list(computed.near),
    }


def span_record(span: Span) -> Record:
    """The words of a span; offsets are code points of the document's stored text."""
    return {"text": span.text, "start": span.start, "end": span.end}


def place_record(quote: AnswerSpan | Citation) -> Record:
    """The span of an answer or a citation, with page, line, label and headings; offsets are code points."""
    span = quote.span
    return {
        "text": span.text,
        "document": span.document_id,
        "start": span.start,
        "end": span.end,
        "display": shown(span),
        "page": quote.page,
        "line": quote.line,
        "label": quote.label,
        "heading": list(quote.heading),
    }


def quote_record(quote: CheckedQuote) -> Record:
    """A quote of a written text with its match, "nowhere" without one, and its place in a document."""
    record: Record = {"quote": quote.text, "at": quote.start, "match": quote.match or "nowhere"}
    place = quote.place
    if place is None:
        return record
    return record | {
        "text": place.text,
        "document": place.document_id,
        "start": place.start,
        "end": place.end,
        "page": place.page,
        "line": place.line,
        "label": place.label,
        "heading": list(place.heading),
    }


def word_record(word: QuestionTerm, question: str) -> Record:
    """A word of a question; offsets are code points of the question."""
    return {"text": word.of(question), "start": word.start, "end": word.end}


def spelling_record(result: Answer | Summary | Spelling) -> Record:
    """The corrected words of the question, and whether none of its content words occurs in the documents."""
    words = [{**word_record(each.term, asked(result)), "used": each.word} for each in result.searched_for]
    return {"searched_for": words, "is_unknown": result.is_unknown}


def explanation_record(explanation: Explanation) -> Record:
    """The JSON of `ask --explain --json`: that of the answer with the key "explanation".

    It is None when no span was read. The key "document" is present when a document was named.
    """
    best = explanation.best
    fate = explanation.document
    evidence: Record | None = None
    if best is not None:
        evidence = {
            "of": "rejected" if explanation.answer.no_answer else "answer",
            "evidence": _breakdown_record(best),
            "confidence": asdict(explanation.formula) if explanation.formula else None,
            "rank": explanation.rank,
            "scores": dict(explanation.scores),
            "ranks": [_rank_record(rank) for rank in explanation.ranks],
        }
    record = {**answer_record(explanation.answer), "explanation": evidence}
    if fate is not None:
        record["document"] = {
            **{key: getattr(fate, key) for key in ("document", "stage", "reason", "advice")},
            "ranks": [_rank_record(rank) for rank in fate.ranks],
            "evidence": _breakdown_record(fate.best) if fate.best else None,
        }
    return record


def _rank_record(rank: StageRank) -> Record:
    place = {"stage": rank.stage, "rank": rank.rank, "depth": rank.depth, "score": rank.score}
    return {**place, "passage": rank.passage.id if rank.passage else None}


def _breakdown_record(breakdown: ScoreBreakdown) -> Record:
    return {
        **place_record(breakdown.answer),
        "passage": breakdown.answer.passage.id,
        "evidence": breakdown.evidence,
        "confidence": breakdown.answer.confidence,
        "features": {
            each.feature: {"value": each.value, "weight": each.weight, "contribution": each.contribution}
            for each in breakdown.contributions
        },
    }


def search_record(result: SearchResult) -> Record:
    """The JSON of `search --json`."""
    return {
        "question": result.spelling.question,
        "understood": result.spelling.understood,
        "retriever": result.retriever,
        "hits": [hit_record(hit) for hit in result],
        **spelling_record(result.spelling),
        **filter_record(result.scope),
        **partial_record(result.left_out),
    }


def summary_record(summary: Summary) -> Record:
    """The JSON of `summarize --json`; `nearest` are passages to look at when the summary is a refusal.

    The key `overview` is present only without a question.
    """
    return {
        "question": summary.question,
        "understood": summary.understood,
        "outcome": summary.outcome,
        "sentences": [sentence_record(sentence) for sentence in summary.sentences],
        "dropped": [sentence_record(sentence) for sentence in summary.dropped],
        "generator": {**asdict(summary.generator), "digest": summary.generator.digest or None},
        "passages": summary.passages,
        "nearest": [hit_record(hit) for hit in summary.nearest] if summary.is_refusal else [],
        "retriever": summary.retriever,
        "timings_ms": {stage: round(value, 2) for stage, value in summary.timings_ms.items()},
        **({"overview": asdict(summary.overview)} if summary.overview else {}),
        **spelling_record(summary),
        "unread_files": summary.unread_files,
        "hint": language_hint(summary.question) if summary.is_refusal else "",
        **filter_record(summary.scope),
    }


def sentence_record(sentence: SummarySentence) -> Record:
    """The JSON of a sentence."""
    return {**written_record(sentence), "display": shown_sentence(sentence)}


def partial_record(left_out: str) -> dict[str, str]:
    """The key `partial`, such as "7 of 8 shards"; no key when the whole index was searched."""
    return {"partial": left_out} if left_out else {}


def filter_record(scope: FilterResult | None) -> Record:
    """The key `filter` with the filter and the numbers of what it selects; no key without a filter."""
    if scope is None:
        return {}
    record = asdict(scope)
    where = record.pop("where")
    dates = {key: where[key] and str(where[key]) for key in ("after", "before")}
    return {"filter": {**where, **dates, **record}}


def hit_record(hit: Hit) -> Record:
    """One hit; `passage` is the passage's id, `scores` those of its stages, offsets are code points."""
    passage = hit.passage
    return {
        "rank": hit.rank,
        "score": hit.score,
        "scores": dict(hit.scores),
        "document": passage.document_id,
        "passage": passage.id,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "label": passage.label,
        "heading": list(passage.heading),
        "text": passage.text,
        "display": shown(passage),
        "duplicates": [duplicate_record(passage) for passage in hit.duplicates],
    }


def duplicate_record(passage: Passage) -> Record:
    """The place of a near-duplicate."""
    return {"document": passage.document_id, "start": passage.start, "end": passage.end}


def sync_record(report: SyncReport) -> Record:
    """The JSON of `index --json`."""
    return {
        **asdict(report),
        "rejected": [{"document": file.document_id, "reason": file.reason} for file in report.rejected],
        "remarks": [{"document": each.document_id, "text": each.text} for each in report.remarks],
    }


def rebuilt(kind: Any, value: Any) -> Any:
    """The result of this type from JSON.

    >>> from spanwise.types import Span
    >>> rebuilt(tuple[Span, ...], [{"document_id": "a.txt", "start": 0, "end": 2, "text": "on"}])
    (Span(document_id='a.txt', start=0, end=2, text='on', left_out=()),)
    """
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(
            **{
                each.name: rebuilt(hints[each.name], value[each.name])
                for each in fields(kind)
                if each.name in value
            }
        )
    arguments = get_args(kind)
    if get_origin(kind) in (tuple, list):
        return get_origin(kind)(rebuilt(arguments[0], item) for item in value)
    if get_origin(kind) is UnionType and is_dataclass(arguments[0]):
        return None if value is None else rebuilt(arguments[0], value)
    return value


_hints = cache(get_type_hints)
