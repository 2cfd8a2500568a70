"""When the passages at the top of a ranking were enough, and those below them can be left unread."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spanwise.types import ScoredSpan


@dataclass(frozen=True, slots=True)
class Stopping:
    """Of at most `of` passages the best `first` are read; they are enough when a span's margin is `margin`.

    The margin is the score of a span minus the null score of its passage (logits). Of the questions that it
    was fitted on, with `of` passages each, the rule leaves the share `unread` of all passages unread, and in
    the share `changed` of the questions the best candidate says something else than if all were read.
    """

    first: int
    of: int
    margin: float
    unread: float = 0.0
    changed: float = 0.0

    def part(self, n_passages: int) -> int:
        """How many of a question's passages are read first: all, where they are more than `of`.

        >>> rule = Stopping(first=8, of=20, margin=6.0)
        >>> rule.part(20), rule.part(5), rule.part(50)
        (8, 5, 50)
        """
        return n_passages if n_passages > self.of else min(self.first, n_passages)

    def is_enough(self, spans: Iterable[ScoredSpan]) -> bool:
        """True when one of the spans read leaves so little doubt; never without a null score."""
        return any(one.score - one.null_score >= self.margin for one in spans)

    @classmethod
    def parse(cls, stored: Any) -> Stopping:
        """The rule of a JSON object; TypeError or ValueError for anything else."""
        found = cls(**stored)
        if not (isinstance(found.first, int) and isinstance(found.of, int) and 0 < found.first < found.of):
            raise ValueError(f"first is {found.first!r} of {found.of!r}; expected 0 < first < of")
        if not all(map(math.isfinite, (found.margin, found.unread, found.changed))):
            raise ValueError(f"the margin is {found.margin!r}; expected finite numbers")
        return found
