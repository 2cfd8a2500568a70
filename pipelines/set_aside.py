"""Which spans no answer is quoted from: those in orders to the reader, and in what speaks to the reader."""

from __future__ import annotations

from spanwise.types import Passage, Span

from ..corpora.sentences import sentence_spans
from ..reader.support.orders import orders
from ..reader.support.topic import Content, on_topic, speaks_of_texts


class SetAside:
    """The sentences that no answer to a question is quoted from; `content` gives terms with a meaning."""

    def __init__(self, question: str, content: Content) -> None:
        self._asked, self._content = frozenset(content(question)), content
        self._places: dict[tuple[int, str], list[tuple[int, int]]] = {}

    def holds(self, passage: Passage, span: Span) -> bool:
        """Whether a span inside a passage shares a character with such a sentence of it."""
        key = (passage.id, passage.text)
        if key not in self._places:
            self._places[key] = self._of(passage.text)
        start, end = span.start - passage.start, span.end - passage.start
        return any(first < end and start < after for first, after in self._places[key])

    def _of(self, text: str) -> list[tuple[int, int]]:
        """The spans of sentences that give orders; or speak of texts and writing, and belong nowhere."""
        spans = sentence_spans(text)
        texts = [text[start:end] for start, end in spans]
        given = orders(text, spans)
        of_texts = [speaks_of_texts(one) for one in texts]
        belongs = on_topic(texts, self._asked, True, self._content) if any(of_texts) else [True] * len(texts)
        rows = zip(spans, of_texts, belongs, strict=True)
        return [span for at, (span, speaks, on) in enumerate(rows) if at in given or (speaks and not on)]
