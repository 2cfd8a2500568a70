"""From evidence to citations: every number stands for one span, in the order of first use."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from spanwise.types import Passage, Span

from ...corpora.passages import label_at
from ...corpora.sentences import sentence_spans
from ...index.snapshot import Snapshot
from .summary import Citation


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence of a passage."""

    span: Span
    passage: Passage


def pieces_of(passages: Sequence[Passage]) -> list[Piece]:
    """The sentences of all passages, in order, each place of a document once."""
    found: dict[tuple[str, int, int], Piece] = {}
    for passage in passages:
        for start, end in sentence_spans(passage.text):
            place = passage.start + start, passage.start + end
            span = Span(passage.document_id, *place, passage.text[start:end])
            found.setdefault((passage.document_id, *place), Piece(span, passage))
    return list(found.values())


@dataclass(slots=True)
class Citer:
    """Numbers the spans that are cited; `snapshot` knows the pages and labels of documents."""

    snapshot: Snapshot
    _numbers: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def cite(self, pieces: Sequence[Piece]) -> tuple[Citation, ...]:
        """A citation for each piece, in their order."""
        return tuple(map(self._cite, pieces))

    def _cite(self, piece: Piece) -> Citation:
        span, passage = piece.span, piece.passage
        number = self._numbers.setdefault((span.document_id, span.start, span.end), len(self._numbers) + 1)
        line = passage.line + passage.text.count("\n", 0, span.start - passage.start)
        page, label = None, ""
        if passage.page is not None or passage.label:
            document = self.snapshot.document(span.document_id)
            label = label_at(document.labels, span.start)
            page = bisect_right(document.page_starts, span.start) if document.page_starts else None
        return Citation(number, span, passage, page, line, label)
