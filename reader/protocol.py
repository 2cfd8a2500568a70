"""The contract of readers: what finds answer spans inside passages, and a check of a user's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Protocol

from spanwise.errors import ContractBroken, SpanwiseError
from spanwise.types import Passage, ScoredSpan, Span


class Reader(Protocol):
    """`digest` names the exact weights."""

    digest: str

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """For each question and each of its passages the n best spans, best first.

        Spans are inside the passage, in document offsets. A passage without tokens gives an empty list.
        """


class CheckedReader:
    """A reader from outside this package, held to the contract of every reader.

    Each span is compared with the text of its passage, so that no answer can show text that is not there.
    ContractBroken when reading fails, and for a result that is not a list of spans of the passages.
    """

    digest = ""

    def __init__(self, reader: Any) -> None:
        if not callable(getattr(reader, "read", None)):
            raise ContractBroken(f"the reader {reader!r:.60} has no method read")
        self._reader, self._label = reader, f"the reader {type(reader).__name__}"

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The spans of the reader, best first."""
        try:
            found = [[list(spans) for spans in one] for one in self._reader.read(questions, passages, n_best)]
        except SpanwiseError:
            raise
        except Exception as error:
            raise self._broke(f"failed: {type(error).__name__}: {error}") from error
        if [len(one) for one in found] != [len(one) for one in passages]:
            raise self._broke("did not give one list of spans for each passage of each question")
        return [
            [self._checked(spans, passage)[:n_best] for spans, passage in zip(one, group, strict=True)]
            for one, group in zip(found, passages, strict=True)
        ]

    def _checked(self, spans: Sequence[ScoredSpan], passage: Passage) -> list[ScoredSpan]:
        found = [self._span(scored, passage) for scored in spans]
        return sorted(found, key=lambda one: (-one.score, one.span.start, one.span.end))

    def _span(self, scored: ScoredSpan, passage: Passage) -> ScoredSpan:
        if not (isinstance(scored, ScoredSpan) and isinstance(scored.span, Span)):
            raise self._broke(f"gave {scored!r:.60}, expected a ScoredSpan")
        span = scored.span
        is_place = type(span.start) is type(span.end) is int
        if not (is_place and passage.start <= span.start < span.end <= passage.end):
            place = f"{passage.document_id}, {passage.start} to {passage.end}"
            raise self._broke(f"gave a span from {span.start!r} to {span.end!r} in the passage {place}")
        words = passage.text[span.start - passage.start : span.end - passage.start]
        if (span.document_id, span.text) != (passage.document_id, words):
            raise self._broke(f"gave {span.text!r:.60} where {span.document_id} says {words!r:.60}")
        is_finite = isinstance(scored.score, Real) and math.isfinite(scored.score)
        if not (is_finite and isinstance(scored.null_score, Real)):
            raise self._broke(f"gave the scores {scored.score!r} and {scored.null_score!r}, expected numbers")
        return replace(scored, passage=passage)

    def _broke(self, problem: str) -> ContractBroken:
        return ContractBroken(f"{self._label} {problem}")
