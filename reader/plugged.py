"""A reader that is no part of this package, held to what every reader promises: spans of their passages.

A span is cut anew out of the passage that it was found in, so that a reader can choose the wrong words and
cannot make any up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Protocol

from spanwise.errors import PluginFailed, SpanwiseError
from spanwise.types import Passage, ScoredSpan, Span

from .spans import TokenScores


class Reading(Protocol):
    """What a plug-in has to be; with `token_scores`, see `Reader`, its answers can be explained too."""

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """For each question and each of its passages the n best spans, best first."""


@dataclass(slots=True)
class PluggedReader:
    """The reader of a plug-in; `label` names it when it fails, `digest` names what it reads by."""

    label: str
    digest: str
    reading: Reading

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The spans; PluginFailed when reading fails, and for what is no span of its passage."""
        try:
            found = [[list(spans) for spans in one] for one in self.reading.read(questions, passages, n_best)]
        except Exception as error:
            raise self._failed(error) from error
        if [len(one) for one in found] != [len(one) for one in passages]:
            raise self._broke("did not give one list of spans for each passage of each question")
        return [
            [self._checked(spans, passage)[:n_best] for spans, passage in zip(one, group, strict=True)]
            for one, group in zip(found, passages, strict=True)
        ]

    def token_scores(self, question: str, passage: Passage) -> TokenScores:
        """Those of the plug-in; PluginFailed for one without."""
        scores = getattr(self.reading, "token_scores", None)
        if scores is None:
            raise self._broke("does not tell where it saw an answer begin and end: ask without explaining")
        try:
            seen = scores(question, passage)
        except Exception as error:
            raise self._failed(error) from error
        if not isinstance(seen, TokenScores):
            raise self._broke(f"gave {seen!r:.60} where TokenScores were expected")
        return seen

    def _checked(self, spans: Sequence[ScoredSpan], passage: Passage) -> list[ScoredSpan]:
        found = [self._span(scored, passage) for scored in spans]
        return sorted(found, key=lambda one: (-one.score, one.span.start, one.span.end))

    def _span(self, scored: ScoredSpan, passage: Passage) -> ScoredSpan:
        if not (isinstance(scored, ScoredSpan) and isinstance(scored.span, Span)):
            raise self._broke(f"gave {scored!r:.60} where a ScoredSpan was expected")
        span, place = scored.span, f"{passage.document_id}, {passage.start} to {passage.end}"
        if not (
            type(span.start) is type(span.end) is int
            and passage.start <= span.start < span.end <= passage.end
        ):
            raise self._broke(f"gave a span from {span.start!r} to {span.end!r} in the passage {place}")
        words = passage.text[span.start - passage.start : span.end - passage.start]
        if (span.document_id, span.text) != (passage.document_id, words):
            raise self._broke(f"gave {span.text!r:.60} where {span.document_id} says {words!r:.60}")
        if not _is_number(scored.score) or not isinstance(scored.null_score, Real):
            raise self._broke(
                f"gave the scores {scored.score!r} and {scored.null_score!r}: the first must be finite"
            )
        return replace(scored, passage=passage)

    def _broke(self, what: str) -> PluginFailed:
        return PluginFailed(f"{self.label} {what}")

    def _failed(self, error: Exception) -> SpanwiseError:
        if isinstance(error, SpanwiseError):
            return error
        return self._broke(f"failed: {type(error).__name__}: {error}")


def _is_number(score: object) -> bool:
    return isinstance(score, Real) and math.isfinite(score)
