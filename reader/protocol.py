"""The protocol of readers, which find answer spans inside passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spanwise.types import Passage, ScoredSpan

from .spans import TokenScores


class Reader(Protocol):
    """Finds answer spans; `digest` names its exact weights."""

    digest: str

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """For each question and each of its passages the n best spans, best first.

        Spans lie inside the passage, in document offsets. A passage without tokens gives an empty list.
        """

    def token_scores(self, question: str, passage: Passage) -> TokenScores:
        """The probability of each token of a passage to begin and to end the answer."""
