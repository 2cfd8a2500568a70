"""A summary as plain JSON values."""

from __future__ import annotations

from typing import Any

from ..records import filter_record, hit_record
from .summary import Citation, Summary, SummarySentence


def summary_record(summary: Summary) -> dict[str, Any]:
    """What `summarize --json` prints; `nearest` are passages to look at where nothing could be said."""
    return {
        "question": summary.question,
        "sentences": [sentence_record(one) for one in summary.sentences],
        "dropped": [sentence_record(one) for one in summary.dropped],
        "generator": summary.generator,
        "decoding": dict(summary.decoding),
        "tokens": summary.tokens,
        "passages": summary.passages,
        "left_out": summary.left_out,
        "nearest": [hit_record(hit) for hit in summary.nearest] if summary.is_refusal else [],
        "retriever": summary.retriever,
        "timings_ms": {stage: round(value, 2) for stage, value in summary.timings_ms.items()},
        **filter_record(summary.scope),
    }


def sentence_record(sentence: SummarySentence) -> dict[str, Any]:
    """A sentence with its citations; `support` is 0..1."""
    return {
        "text": sentence.text,
        "citations": [citation_record(one) for one in sentence.citations],
        "support": round(sentence.support, 4),
        "verdict": sentence.verdict.value,
        "findings": [
            {"failure": one.failure.value, "words": one.words, "reason": one.reason}
            for one in sentence.findings
        ],
    }


def citation_record(citation: Citation) -> dict[str, Any]:
    """Where a sentence stands; offsets are code points of the document's stored text."""
    span = citation.span
    return {
        "number": citation.number,
        "document": span.document_id,
        "start": span.start,
        "end": span.end,
        "page": citation.page,
        "line": citation.line,
        "label": citation.label,
        "text": span.text,
    }
