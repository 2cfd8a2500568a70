"""What a question asks for, and the words around it: the parse that all forms start from.

A question is read as  [fronted part,] [preposition] asking word [noun phrase] rest,  the rest beginning
with an auxiliary or with the finite verb of a subject question. Where the noun phrase ends is certain
before an auxiliary; before any other verb it must be the only word that can be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from .finite_verb import finite_verb, opens_with_verb
from .words import (
    ARTICLES,
    ASKING,
    AUXILIARIES,
    BE,
    DO,
    HAVE,
    MODAL,
    PREPOSITIONS,
    PRONOUNS,
    SPEAKERS,
    Word,
    is_adverb,
    is_preposition,
)

Kind = Literal["who", "thing", "time", "place", "reason", "manner", "count", "amount", "measure", "often"]
MOST_WORDS = 40  # of a question

TIMES = {
    "year": "in",
    "month": "in",
    "decade": "in",
    "century": "in",
    "season": "in",
    "day": "on",
    "date": "on",
}
_ADVERBS_OF_NUMBER = frozenset("about approximately roughly exactly around".split())
_FRONTING = PREPOSITIONS | frozenset("according besides along aside other following prior excluding".split())
_LEADING = frozenset(
    "in on at by for from with within into to of about during through under after before".split()
)
_SIMPLE: dict[str, Kind] = {
    "who": "who",
    "whom": "who",
    "what": "thing",
    "which": "thing",
    "when": "time",
    "where": "place",
    "why": "reason",
}
MEASURES = frozenset("long old tall high wide deep thick".split())


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in parts: its fronted words, the preposition before the asking word, the words of its noun.

    `measure` is the adjective of "how long"; `rest` begins with the auxiliary or the finite verb.
    """

    kind: Kind
    fronted: tuple[Word, ...]
    lead: str
    head: tuple[Word, ...]
    measure: str
    rest: tuple[Word, ...]

    @property
    def first(self) -> str:
        """The auxiliary, or the finite verb."""
        return self.rest[0].lower

    @property
    def noun(self) -> str:
        """The first noun of the phrase that is asked for, in lower case, or the empty string."""
        return self.head[0].lower if self.head else ""


def parsed(words: Sequence[Word]) -> Asked | None:
    """The parts of a question without its question mark, or None where they are not certain."""
    at = _start(words)
    if at is None:
        return None
    fronted, words = tuple(words[:at]), words[at:]
    lead = ""
    if words[0].lower in _LEADING:
        lead, words = words[0].lower, words[1:]
    elif words[0].lower in _ADVERBS_OF_NUMBER and words[1].lower == "how":
        words = words[1:]
    asking = words[0].lower
    if asking == "how":
        return _how(words, fronted, lead)
    if asking not in _SIMPLE or len(words) < 2:
        return None
    kind = _SIMPLE[asking]
    if kind not in ("thing", "who") and lead:
        return None
    end = 1 if kind != "thing" or words[1].lower in AUXILIARIES else _end_of_noun(words)
    if end is None or end >= len(words) or any(word.ends_part for word in words[1:end]):
        return None
    head = tuple(words[1:end])
    if kind == "thing" and not lead and head and head[0].lower in TIMES:
        kind, lead = "time", TIMES[head[0].lower]
    return Asked(kind, fronted, lead, head, "", tuple(words[end:]))


def is_plain(words: Sequence[Word]) -> bool:
    """Whether a question can be read at all: one sentence, no words of a dialogue, nothing denied."""
    if not 3 <= len(words) <= MOST_WORDS or any(not word.core for word in words):
        return False
    lowers = [word.lower for word in words if not word.quoted]
    if any(
        word in SPEAKERS
        or word in ("this", "these", "those")
        or word == "not"
        or "n't" in word
        or "n’t" in word
        for word in lowers
    ):
        return False
    for word, following in pairwise(words):
        if word.core in ARTICLES and is_preposition(following):
            return False
        if word.core in ("and", "or") and following.lower in ASKING:
            return False
    return not any(word.text.rstrip("\"'”’").endswith(("?", ";", "!")) for word in words)


def asks(words: Sequence[Word]) -> int:
    """How many asking words stand in the question, outside quotation marks."""
    return sum(word.lower in ASKING and not word.quoted for word in words)


def _start(words: Sequence[Word]) -> int | None:
    """Where the asking part begins: at the start, or behind the comma of a phrase with a preposition."""
    if _asks_here(words, 0):
        return 0
    if words[0].lower not in _FRONTING:
        return None
    for at in range(1, len(words) - 2):
        if words[at].lower in ASKING or words[at].lower in PRONOUNS:
            return None
        if words[at].ends_part and _asks_here(words, at + 1):
            return at + 1
    return None


def _asks_here(words: Sequence[Word], at: int) -> bool:
    here, following = words[at].lower, words[at + 1].lower
    if here in ASKING:
        return True
    return (here in _LEADING and following in ASKING) or (here in _ADVERBS_OF_NUMBER and following == "how")


def _end_of_noun(words: Sequence[Word]) -> int | None:
    """Where the rest begins behind "what" or "which": at the first auxiliary, or at the only finite verb."""
    if opens_with_verb(words):
        return 1
    end = _end_before_verb(words)
    return end - 1 if end is not None and end > 2 and is_adverb(words[end - 1]) and end < len(words) else end


def _end_before_verb(words: Sequence[Word]) -> int | None:
    auxiliary = next(
        (at for at, word in enumerate(words) if at > 0 and word.core in AUXILIARIES and not word.quoted), None
    )
    end = len(words) if auxiliary is None else auxiliary
    verb = finite_verb(words[:end], words[end:])
    if verb is not None and (auxiliary is None or words[auxiliary - 1].lower in ("that", "which", "who")):
        return verb
    if any(word.core in ("that", "who", "which") for word in words[1:end]):
        return None
    if auxiliary is not None and finite_verb(words[:end], (), strict=True) is not None:
        return None
    return auxiliary


def _how(words: Sequence[Word], fronted: tuple[Word, ...], lead: str) -> Asked | None:
    """The parts of "how", "how many …", "how much …", "how long", "how often"."""
    if lead or len(words) < 3:
        return None
    second = words[1].lower
    if second in AUXILIARIES:
        return Asked("manner", fronted, "", (), "", tuple(words[1:]))
    if second == "often" or second in MEASURES:
        if words[2].lower not in AUXILIARIES:
            return None
        return Asked("often" if second == "often" else "measure", fronted, "", (), second, tuple(words[2:]))
    if second not in ("many", "much"):
        return None
    end = 2 if words[2].lower in AUXILIARIES else _end_of_noun(words[1:])
    if end is None:
        return None
    end = end if words[2].lower in AUXILIARIES else end + 1
    head = tuple(words[2:end])
    kind: Kind = "count" if second == "many" else "amount"
    if end >= len(words) or (kind == "count" and not head):
        return None
    return Asked(kind, fronted, "", head, "", tuple(words[end:]))


def is_auxiliary(word: str) -> bool:
    """Whether a word is a form of be, do or have, or a modal verb."""
    return word in BE | DO | HAVE | MODAL


def strands(words: Sequence[Word]) -> bool:
    """Whether the words end with a preposition whose object was asked for."""
    return bool(words) and is_preposition(words[-1]) and not words[-1].ends_part
