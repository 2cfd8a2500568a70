"""Whether a span touches a sentence that gives orders to the reader: no answer is quoted from there."""

from __future__ import annotations

from spanwise.types import Passage, Span

from ..corpora.sentences import sentence_spans
from ..reader.support.orders import orders


def gives_orders_at(passage: Passage, span: Span) -> bool:
    """Whether a span inside a passage shares a character with a sentence that gives orders."""
    spans = sentence_spans(passage.text)
    start, end = span.start - passage.start, span.end - passage.start
    return any(spans[at][0] < end and start < spans[at][1] for at in orders(passage.text, spans))
