"""The numbers in a text by their value, so that 2,000 is 2000, and twelve percent is 12%."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from .days import days

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SMALL = {word: number for number, word in enumerate(_UNITS)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_SPELLED = "|".join(sorted(_SMALL, key=len, reverse=True))
_DIGITS = re.compile(
    r"(?<![\w.,])(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<suffix>st|nd|rd|th|s)?(?![\w])"
    rf"(?:[ -](?P<scale>{'|'.join(_SCALES)})s?\b)?(?P<percent>\s?%|\s(?:percent|per cent)\b)?",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"\b(?P<words>(?:{_SPELLED})(?:[ -](?:{_SPELLED}|{'|'.join(_SCALES)}|and(?=[ -](?:{_SPELLED}))))*)\b"
    r"(?P<percent>\s(?:percent|per cent)\b)?",
    re.IGNORECASE,
)
_ORDINAL = re.compile(rf"\b(?P<ordinal>{'|'.join(_ORDINALS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands at text[start:end], and its value: "2000", "12%", "3th" (an ordinal), "1930s"."""

    text: str
    value: str
    start: int
    end: int


def numbers(text: str) -> list[Number]:
    """The numbers of a text, by place; the days of months are not among them (`days`).

    "one" and "second" by themselves are none: they are pronouns and times as often.

    >>> [number.value for number in numbers("In the 1930s 2,000 of two million, twelve per cent, came 3rd.")]
    ['1930s', '2000', '2000000', '12%', '3th']
    """
    named = [(day.start, day.end) for day in days(text)]
    found = (one for one in _found(text) if not any(start <= one.start < end for start, end in named))
    return sorted(found, key=lambda number: number.start)


def _found(text: str) -> Iterator[Number]:
    for match in _DIGITS.finditer(text):
        amount = Decimal(match["digits"].replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1)
        suffix = (match["suffix"] or "").lower()
        yield _number(match, _plain(amount), "s" if suffix == "s" else suffix and "th", match["percent"])
    for match in _WORDS.finditer(text):
        words = re.split(r"[ -]", match["words"].lower())
        if words != ["one"]:
            yield _number(match, _plain(Decimal(_spelled(words))), "", match["percent"])
    for match in _ORDINAL.finditer(text):
        if (word := match["ordinal"].lower()) != "second":
            yield _number(match, str(_ORDINALS.index(word) + 1), "th", None)


def covers(value: str, other: str) -> bool:
    """Whether a number says what another one does: it is the same, or a decade with that year in it.

    >>> covers("1960s", "1964"), covers("12", "12%")
    (True, False)
    """
    return value == other or (
        value.endswith("0s") and len(other) == len(value) - 1 and other[:-1] == value[:-2]
    )


def without_numbers(text: str) -> str:
    """The text with its numbers and days taken out."""
    places = [(number.start, number.end) for number in numbers(text)]
    places += [(day.start, day.end) for day in days(text)]
    kept, at = [], 0
    for start, end in sorted(places):
        kept.append(text[at:start])
        at = max(at, end)
    return " ".join([*kept, text[at:]])


def _number(match: re.Match[str], amount: str, suffix: str, percent: str | None) -> Number:
    return Number(match[0], f"{amount}{suffix}{'%' if percent else ''}", match.start(), match.end())


def _plain(amount: Decimal) -> str:
    """Without exponent and trailing zeros: 1.50 is 1.5."""
    whole = f"{amount:f}"
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def _spelled(words: list[str]) -> int:
    """The value of number words: two hundred and five thousand is 205000."""
    total, part = 0, 0
    for word in words:
        if word == "hundred":
            part = max(1, part) * 100
        elif word in _SCALES:
            total, part = total + max(1, part) * _SCALES[word], 0
        else:
            part += _SMALL.get(word, 0)
    return total + part
