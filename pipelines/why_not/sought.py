"""Where words that should have answered stand, and what became of them: cut apart, not read, not proposed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanwise.types import Document, Hit, Passage, ScoredSpan, Span

from .marked_passage import occurrences


@dataclass(frozen=True, slots=True)
class Sought:
    """One place of the words. `passages` hold all of them; when none does, `cut` hold a part each.

    `rank` is that of the best of `passages` that was read; `proposed` is the best span of the reader that
    shares characters with the words.
    """

    span: Span
    passages: tuple[Passage, ...]
    cut: tuple[Passage, ...]
    rank: int | None
    proposed: ScoredSpan | None


def sought(
    words: str,
    document: Document,
    passages: Sequence[Passage],
    hits: Sequence[Hit],
    readings: Sequence[Sequence[ScoredSpan]],
) -> tuple[Sought, ...]:
    """Each place of the words in the document, whole words in any case; `passages` are all it has."""
    return tuple(
        _at(Span(document.id, start, end, document.text[start:end]), passages, hits, readings)
        for start, end in occurrences([words], document.text)
    )


def _at(
    span: Span,
    passages: Sequence[Passage],
    hits: Sequence[Hit],
    readings: Sequence[Sequence[ScoredSpan]],
) -> Sought:
    touching = [passage for passage in passages if passage.start < span.end and span.start < passage.end]
    holding = tuple(one for one in touching if one.start <= span.start and span.end <= one.end)
    held = {passage.id for passage in holding}
    ranks = [hit.rank for hit in hits if hit.passage.id in held]
    proposals = _overlapping(span, (scored for spans in readings for scored in spans))
    best = max(proposals, key=lambda scored: scored.score, default=None)
    return Sought(span, holding, () if holding else tuple(touching), min(ranks, default=None), best)


def _overlapping(span: Span, proposals: Iterable[ScoredSpan]) -> list[ScoredSpan]:
    return [
        scored
        for scored in proposals
        if scored.span.document_id == span.document_id
        and scored.span.start < span.end
        and span.start < scored.span.end
    ]
