"""Which words of a text name a person: by rule, for telling who is asked about, not for finding everybody.

A person is a known first name, at most one initial, and a capitalised word: "Ada Rook", "Ada B. Rook". In
doubt it is nobody: another capitalised word right behind either part ("Charlotte Rook Museum"), a word that
names places or institutions ("Virginia Beach"), one that the text also has in lower case ("Mark Young",
"young").
Names of more words, names without a known first name, and pronouns are left alone: a woman's name can come to
stand beside "he".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .first_names import FIRST_NAMES
from .name_swap import NAME_WORD

NO_LAST_NAME = frozenset(
    (
        "Abbey Academy Act Agreement Airport Army Arena Article Ave Avenue Award Bank Battalion Bay Beach "
        "Bible Board Book Bowl Bridge Building Bull Castle Cathedral Center Centre Chapel Church Circle "
        "City Club Coast College Committee Company Corporation Council County Court Creek Crown Cup Day "
        "District Division Duke Earl Empire Factory Falls Field Fleet Fort Foundation Garden Gardens Gospel "
        "Group Gulf Hall Harbor Harbour Heights High Hill Hills Hospital Hotel House Hall Inc Institute "
        "Island Islands Junior King Lake Lane Law Library Limited Line Mall Market Medal Memorial Monastery "
        "Mount Museum Music Orchestra Palace Park Peace Peninsula Place Plan Plaza Point Port Press Prince "
        "Prize Project Queen Records Reef Regiment River Road Royal School Sea Society Square Stadium State "
        "States Station Street Studios Terminal Theatre Theater Theorem Tower Town Trail Treaty Trophy "
        "Tunnel University Valley Version Village War West East North South"
    ).split()
)
NO_PERSON_AFTER = FIRST_NAMES | frozenset(
    "Saint St San Santa Fort Mount Lake Port Cape King Queen Pope".split()
)
LEAST_LETTERS = 3


@dataclass(frozen=True, slots=True)
class PersonNames:
    """The first and the last names of the persons of a text, each word once, in the order of their coming."""

    first: tuple[str, ...]
    last: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    gap: str  # what stands between it and the next one

    @property
    def is_capitalised(self) -> bool:
        return self.text[0].isupper()


def person_names(text: str) -> PersonNames:
    """The words that name persons; no word is both a first and a last name.

    >>> person_names("Ada Rook built it. Rook and Mary B. Hale sold it to the Ada Rook Trust.")
    PersonNames(first=('Mary',), last=('Hale',))
    """
    words = _words(text)
    lower = {word.text for word in words if word.text.islower()}
    persons = [
        (first, last)
        for first, last in dict.fromkeys(_persons(words))
        if first.lower() not in lower and last.lower() not in lower
    ]
    while True:
        names = {name for person in persons for name in person}
        strangers = _followed(words, names)
        kept = [person for person in persons if not strangers & set(person)]
        if len(kept) == len(persons):
            break
        persons = kept
    firsts = tuple(dict.fromkeys(first for first, _ in persons))
    return PersonNames(firsts, tuple(dict.fromkeys(last for _, last in persons if last not in firsts)))


def _words(text: str) -> list[_Word]:
    found = list(NAME_WORD.finditer(text))
    nexts = [match.start() for match in found[1:]] + [len(text)]
    return [
        _Word(match[0], match.start(), match.end(), text[match.end() : after])
        for match, after in zip(found, nexts, strict=False)
    ]


def _persons(words: list[_Word]) -> Iterator[tuple[str, str]]:
    """(first name, last name) wherever they stand one after the other."""
    before = ""
    for i, word in enumerate(words):
        if word.text in FIRST_NAMES and word.gap == " " and before not in NO_PERSON_AFTER:
            at = i + 1
            if at < len(words) and _is_initial(words[at]) and words[at].gap in (" ", ". "):
                at += 1
            if at < len(words) and _is_last_name(words[at]):
                yield word.text, words[at].text
        before = word.text if word.gap == " " else ""


def _is_initial(word: _Word) -> bool:
    return len(word.text) == 1 and word.text.isupper()


def _is_last_name(word: _Word) -> bool:
    return (
        len(word.text) >= LEAST_LETTERS
        and word.is_capitalised
        and word.text.isalpha()
        and not word.text.isupper()
        and word.text not in NO_LAST_NAME
    )


def _followed(words: list[_Word], names: set[str]) -> set[str]:
    """Those of the names that stand right before a capitalised word, which makes them another's name."""
    return {
        word.text
        for word, after in pairwise(words)
        if word.text in names
        and word.gap == " "
        and after.is_capitalised
        and after.text not in names
        and not _is_initial(after)
    }
