"""Errors put into true sentences, to see whether a check notices them.

    number      a number becomes another one of as many digits
    date        a year or a month becomes another one
    name        a name becomes another one
    negation    the first auxiliary verb is negated, or its negation is taken out
    foreign     the sentence is one of another text

The words that come in are drawn by a seed from other sentences, so that they look like what they replace.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...reader.support.names import names

MONTHS = "January February March April May June July August September October November December".split()
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_YEAR = re.compile(r"(?<![\w.,])(?:1[0-9]|20)\d\d(?![\w%]|[.,]\d)")
_WHOLE_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|did|does|do)\b"
)
_NEGATION = re.compile(r"(?: not\b|(?<=\w)n['’]t\b|\bnever )")
_TRIES = 20

IsCommon = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Injected:
    """A sentence with an error of one kind in it."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Injector:
    """Puts errors into sentences; names and sentences come from `pool`, which are other true sentences."""

    pool: Sequence[str]
    is_common: IsCommon

    def errors(self, sentence: str, evidence: str, rng: random.Random) -> list[Injected]:
        """One sentence a kind that this one has room for; what comes in is not in the evidence."""
        made: Mapping[str, Callable[[str, str, random.Random], str | None]] = {
            "number": _other_number,
            "date": _other_date,
            "name": self._other_name,
            "negation": _negated,
            "foreign": self._foreign,
        }
        texts = ((kind, make(sentence, evidence, rng)) for kind, make in made.items())
        return [Injected(kind, text) for kind, text in texts if text]

    def _other_name(self, sentence: str, evidence: str, rng: random.Random) -> str | None:
        held = [name for name in names(sentence, self.is_common) if name.text in evidence]
        if not held:
            return None
        old = rng.choice(held)
        for _ in range(_TRIES):
            drawn = names(rng.choice(self.pool), self.is_common)
            new = [
                one.text for one in drawn if one.text.isalpha() and one.text.lower() not in evidence.lower()
            ]
            if new:
                return sentence[: old.start] + rng.choice(new) + sentence[old.end :]
        return None

    def _foreign(self, sentence: str, evidence: str, rng: random.Random) -> str | None:
        other = rng.choice(self.pool)
        return other if other not in evidence and other != sentence else None


def _other_number(sentence: str, evidence: str, rng: random.Random) -> str | None:
    held = [match for match in _WHOLE_NUMBER.finditer(sentence) if not _YEAR.fullmatch(match[0])]
    return _redrawn(sentence, evidence, rng, held)


def _other_date(sentence: str, evidence: str, rng: random.Random) -> str | None:
    months = [*_MONTH.finditer(sentence)]
    if months and (left := [month for month in MONTHS if month not in evidence]):
        match = rng.choice(months)
        return sentence[: match.start()] + rng.choice(left) + sentence[match.end() :]
    years = [*_YEAR.finditer(sentence)]
    if not years:
        return None
    match = rng.choice(years)
    year = int(match[0])
    near = [one for one in range(year - 20, min(year + 20, 2099)) if str(one) not in evidence]
    return sentence[: match.start()] + str(rng.choice(near)) + sentence[match.end() :]


def _negated(sentence: str, evidence: str, rng: random.Random) -> str | None:
    if match := _NEGATION.search(sentence):
        return sentence[: match.start()] + sentence[match.end() :]
    found = _AUXILIARY.search(sentence)
    return f"{sentence[: found.end()]} not{sentence[found.end() :]}" if found else None


def _redrawn(sentence: str, evidence: str, rng: random.Random, held: Sequence[re.Match[str]]) -> str | None:
    """The sentence with one of the numbers drawn anew; None without one."""
    if not held:
        return None
    match = rng.choice(held)
    for _ in range(_TRIES):
        new = "".join(rng.choice("123456789") if one.isdigit() else one for one in match[0])
        if new not in evidence:
            return sentence[: match.start()] + new + sentence[match.end() :]
    return None
