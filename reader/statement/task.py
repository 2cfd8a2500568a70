"""What every form of statement is made from, and the phrase that the answer becomes in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .asked import Asked
from .phrase import QUALITIES, counted, led, measured, noun_phrase, share
from .standing import Standing
from .words import PRONOUNS, Word

THINGS = frozenset({"who", "thing", "count", "amount"})
_ROLES = frozenset("role position job capacity".split())  # what is filled by somebody is no answer to "who"
_SHARES = frozenset("percentage percent proportion share".split())


@dataclass(frozen=True, slots=True)
class Task:
    """A parsed question, its answer, how this stands in its sentence, and the sentence's words in small."""

    asked: Asked
    answer: str
    stands: Standing
    seen: frozenset[str]

    @property
    def is_thing(self) -> bool:
        """Whether the answer is a subject or object, and no adjunct."""
        return self.asked.kind in THINGS and not self.asked.lead

    @property
    def is_share(self) -> bool:
        """Whether a percentage was asked for."""
        return self.asked.noun in _SHARES

    @property
    def asks_quality(self) -> bool:
        """Whether the answer may be an adjective: a nationality, a colour."""
        return self.asked.noun in QUALITIES and self.asked.noun != "language"

    def thing(self) -> str | None:
        """The answer as a subject or object, or None."""
        if self.asked.head and self.asked.head[-1].lower in _ROLES:
            return None
        if self.asked.kind in ("count", "amount"):
            return counted(self.asked, self.answer, self.stands)
        if self.is_share:
            return share(self.asked, self.answer)
        return noun_phrase(self.asked, self.answer, self.stands)

    def adjunct(self) -> str | None:
        """The answer as an adjunct of time, place and so on, or None."""
        return led(self.asked, self.answer, self.stands)

    def measure(self) -> str | None:
        """The answer with the adjective that was asked for, or None."""
        return measured(self.asked, self.answer)


def is_subject(words: Sequence[Word]) -> bool:
    """Whether words can be the subject of a statement that stands alone: some, and no pronoun first."""
    if not words or words[0].lower in ("there", "to"):
        return False
    return words[0].lower not in PRONOUNS and words[0].lower not in ("his", "her", "its", "their")


def said(*parts: str | Sequence[Word]) -> str:
    """The parts that hold something, one after the other."""
    texts = [part if isinstance(part, str) else " ".join(word.text for word in part) for part in parts]
    return " ".join(text for text in texts if text)
