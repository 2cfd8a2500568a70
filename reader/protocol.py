"""The protocol of readers, which find answer spans in passages, and a check of a user's own reader."""

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Protocol

from spanwise.errors import ContractBroken, SpanwiseError
from spanwise.types import Passage, ScoredSpan, Span


class Reader(Protocol):
    """Finds answer spans in passages.

    digest: identifies the exact weights; "" if unknown.
    """

    digest: str

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The n best spans in each passage of each question, best first.

        Spans lie inside the passage, in document offsets. A passage without tokens gives an empty list.
        """


class CheckedReader:
    """A user's reader whose results are checked.

    Each span is compared with the text of its passage, so no answer can show text that is not there.
    ContractBroken if reading fails, or if the result is not a list of spans for each passage.
    """

    digest = ""

    def __init__(self, reader: Any) -> None:
        if not callable(getattr(reader, "read", None)):
            raise ContractBroken(f"the reader {reader!r:.60} has no method read")
        self._reader = reader
        self._label = f"the reader {type(reader).__name__}"

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The spans of the reader, best first."""
        try:
            results = [list(map(list, lists)) for lists in self._reader.read(questions, passages, n_best)]
        except SpanwiseError:
            raise
        except Exception as error:
            raise self._broke(f"failed: {type(error).__name__}: {error}") from error
        if [len(lists) for lists in results] != [len(group) for group in passages]:
            raise self._broke("did not give one list of spans for each passage of each question")
        return [
            [self._checked(spans, passage)[:n_best] for spans, passage in zip(lists, group, strict=True)]
            for lists, group in zip(results, passages, strict=True)
        ]

    def _checked(self, spans: Sequence[ScoredSpan], passage: Passage) -> list[ScoredSpan]:
        checked = [self._span(scored, passage) for scored in spans]
        return sorted(checked, key=lambda scored: (-scored.score, scored.span.start, scored.span.end))

    def _span(self, scored: ScoredSpan, passage: Passage) -> ScoredSpan:
        if not (isinstance(scored, ScoredSpan) and isinstance(scored.span, Span)):
            raise self._broke(f"gave {scored!r:.60}, expected a ScoredSpan")
        span = scored.span
        are_integers = type(span.start) is type(span.end) is int
        if not (are_integers and passage.start <= span.start < span.end <= passage.end):
            place = f"{passage.document_id}, {passage.start} to {passage.end}"
            raise self._broke(f"gave the span {span.start!r} to {span.end!r}, not inside the passage {place}")
        words = passage.text[span.start - passage.start : span.end - passage.start]
        if (span.document_id, span.text) != (passage.document_id, words):
            raise self._broke(f"gave {span.text!r:.60} where {span.document_id} says {words!r:.60}")
        read = passage.readable[span.start - passage.start : span.end - passage.start]
        if (read[0], read[-1]) != (words[0], words[-1]):
            raise self._broke(f"gave {words!r:.60}, which begins or ends in a part that is left out")
        is_finite = isinstance(scored.score, Real) and math.isfinite(scored.score)
        if not (is_finite and isinstance(scored.null_score, Real)):
            raise self._broke(f"gave the scores {scored.score!r} and {scored.null_score!r}, expected numbers")
        return replace(scored, passage=passage)

    def _broke(self, problem: str) -> ContractBroken:
        return ContractBroken(f"{self._label} {problem}")
