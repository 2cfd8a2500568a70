"""The names in a text: capitalised words that no rule of sentences capitalised."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
OPENING, CLOSING, STOPS = " \t\n\"'“‘(", "'\"”’)", ".!?:"


@dataclass(frozen=True, slots=True)
class Name:
    """A word of a name as it stands at text[start:end]."""

    text: str
    start: int
    end: int


def names(text: str, is_common: Callable[[str], bool]) -> list[Name]:
    """The words of names, by place: each capitalised word that is not common, as "the" and "I" are.

    The first word of a sentence is one only when it has a capital inside (FDA-approved) or when another
    name's word follows: it would be capitalised in any case.

    >>> [name.text for name in names("Mills fell. Ada Rook and the FDA left.", {"and", "the"}.__contains__)]
    ['Ada', 'Rook', 'FDA']
    """
    words = [match for match in _WORD.finditer(text) if not match[0].isdigit()]
    capital = [_is_capitalised(match[0]) and not is_common(match[0].lower()) for match in words]
    found = []
    for at, match in enumerate(words):
        if not capital[at]:
            continue
        followed = (
            at + 1 < len(words) and capital[at + 1] and text[match.end() : words[at + 1].start()] == " "
        )
        if followed or _has_inner_capital(match[0]) or not _begins_sentence(text, match.start()):
            found.append(Name(match[0], match.start(), match.end()))
    return found


def _is_capitalised(word: str) -> bool:
    return word[0].isupper()


def _has_inner_capital(word: str) -> bool:
    return any(letter.isupper() for letter in word[1:])


def _begins_sentence(text: str, start: int) -> bool:
    """Whether nothing, or what ends a sentence, stands before it, quotes and brackets apart."""
    before = text[:start].rstrip(OPENING).rstrip(CLOSING)
    return not before or before[-1] in STOPS
