"""The words of a question with what can be seen on them, and the closed classes of English words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

ASKING = frozenset("who whom whose what which when where why how".split())
BE = frozenset("is are was were".split())
DO = frozenset("do does did".split())
HAVE = frozenset("has have had".split())
MODAL = frozenset("can could will would shall should may might must".split())
AUXILIARIES = BE | DO | HAVE | MODAL
ARTICLES = frozenset("the a an".split())
POSSESSIVES = frozenset("his her its their my our your".split())
DETERMINERS = (
    ARTICLES | POSSESSIVES | frozenset("this that these those each every some any no all both".split())
)
PRONOUNS = frozenset("he she it they him them i you we me us this these those one there".split())
SPEAKERS = frozenset("i you we me us my our your mine yours ours".split())
PREPOSITIONS = frozenset(
    "of in on at by for from with without within into onto to toward towards upon about against between "
    "among through throughout during before after above below under over up down out off as across "
    "along around behind beyond inside outside near since until via despite than like per amid "
    "alongside beneath beside".split()
)
CONJUNCTIONS = frozenset("and or but nor because although though while whereas if unless whether so".split())
PARTICLES = frozenset("back away together apart forward forth aside ahead".split())
ADVERBS = frozenset(
    "first last also still often ever once now then again soon not always never sometimes usually "
    "mostly".split()
)
NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred "
    "thousand million billion trillion dozen half".split()
)
CLOSED = (
    PREPOSITIONS
    | CONJUNCTIONS
    | DETERMINERS
    | PRONOUNS
    | NUMBER_WORDS
    | ADVERBS
    | AUXILIARIES
    | PARTICLES
    | ASKING
)
_AROUND = "\"'“”‘’()[],;:"
_QUOTES = re.compile(r"[\"“”]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands, its `core` without quotes and commas, and whether it stands in quotation marks."""

    text: str
    core: str
    quoted: bool

    @property
    def lower(self) -> str:
        """The core in lower case."""
        return self.core.lower()

    @property
    def is_name(self) -> bool:
        """Whether it is written as names, numbers and titles are."""
        return self.quoted or self.core[:1].isupper() or self.core[:1].isdigit()

    @property
    def ends_part(self) -> bool:
        """Whether a comma, semicolon or colon stands behind it."""
        return self.text.endswith((",", ";", ":"))


def words_of(text: str) -> list[Word]:
    """The words between white space, in order; one with nothing but punctuation has an empty core.

    >>> [word.core for word in words_of('Who wrote "Crazy in Love" first') if word.quoted]
    ['Crazy', 'in', 'Love']
    """
    found, quoted = [], False
    for piece in text.split():
        marks = len(_QUOTES.findall(piece))
        found.append(Word(piece, piece.strip(_AROUND), quoted or marks > 0))
        quoted = quoted != (marks % 2 == 1)
    return found


def joined(words: Sequence[Word]) -> str:
    """The words as they stand, with single spaces."""
    return " ".join(word.text for word in words)


def is_preposition(word: Word) -> bool:
    """Whether the word is a preposition or a particle, and no part of a name or title."""
    return not word.quoted and word.core in PREPOSITIONS


def is_adverb(word: Word) -> bool:
    """Whether the word goes with the verb behind it: "first", "officially"."""
    core = word.core
    return not word.quoted and (core in ADVERBS or (core.islower() and core.endswith("ly") and len(core) > 4))
