"""A training example of the reader."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReaderExample:
    """A question on a passage; the answer is `passage[start:end]`, or start is None for no answer.

    `group` names the article, so that other passages of the same article can stand in for it.
    """

    id: str
    question: str
    passage: str
    start: int | None
    end: int | None
    group: str

    @property
    def answer(self) -> str:
        """The words of the answer, or the empty string."""
        return "" if self.start is None else self.passage[self.start : self.end]
