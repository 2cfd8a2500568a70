"""Which spans no answer is quoted from: those in orders to the reader, and in what speaks to the reader."""

from __future__ import annotations

from spanwise.types import Passage, Span

from ..corpora.sentences import sentence_spans
from ..reader.support.orders import orders
from ..reader.support.topic import Content, on_topic, speaks_of_texts


def is_set_aside(passage: Passage, span: Span, question: str, content: Content) -> bool:
    """Whether a span inside a passage shares a character with a sentence that is not quoted.

    That is one that gives orders; or speaks of texts and writing, and belongs neither to the question nor to
    the other sentences.
    """
    spans = sentence_spans(passage.text)
    start, end = span.start - passage.start, span.end - passage.start
    touched = [at for at, one in enumerate(spans) if one[0] < end and start < one[1]]
    given = orders(passage.text, spans)
    if any(at in given for at in touched):
        return True
    texts = [passage.text[slice(*one)] for one in spans]
    if not any(speaks_of_texts(texts[at]) for at in touched):
        return False
    belongs = on_topic(texts, frozenset(content(question)), True, content)
    return any(not belongs[at] and speaks_of_texts(texts[at]) for at in touched)
