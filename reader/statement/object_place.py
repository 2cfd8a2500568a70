"""Where the object goes that was asked for: behind the verb, or behind a preposition left without one."""

from __future__ import annotations

from collections.abc import Sequence

from .asked import strands
from .inflection import is_base
from .words import Word, is_adverb, is_preposition

# The subject of these does what the second verb says: the missing object is that of the second verb.
_CONTROL = frozenset(
    "want try decide hope plan attempt agree begin start refuse promise intend continue seek wish propose "
    "threaten aim manage offer appear tend seem fail learn claim vow".split()
)
NAMING = frozenset(
    "call name title rename dub nickname term consider label designate christen entitle deem".split()
)
_OPENS_ADJUNCT = frozenset("when while because if after before since until".split())


def object_place(verb: str, tail: Sequence[Word]) -> int | None:
    """How many words of the tail stand before the object of `verb` (a lemma); None if that is not certain."""
    if not tail or strands(tail):
        return len(tail)
    pairs = [at for at in range(1, len(tail)) if is_preposition(tail[at - 1]) and _goes_on(tail[at])]
    if pairs:
        return pairs[0] if len(pairs) == 1 else None
    if len(tail) > 2 and tail[-2].core == "to":
        return None
    first = tail[0]
    if first.core == "to" and len(tail) > 1 and is_base(tail[1].core):
        return _in_infinitive(verb, tail)
    if verb in NAMING and (first.is_name or first.core in ("the", "a", "an", "his", "her", "its", "their")):
        return len(tail) if not any(map(is_preposition, tail)) else None
    if is_preposition(first) or is_adverb(first) or first.core in _OPENS_ADJUNCT:
        return 0
    return None


def _goes_on(word: Word) -> bool:
    return (is_preposition(word) and word.core != "of") or word.core in _OPENS_ADJUNCT


def _in_infinitive(verb: str, tail: Sequence[Word]) -> int | None:
    """The place beside "to" and a verb: behind that verb only when the first one cannot have an object."""
    if tail[1].core == "be":
        return None
    if verb in _CONTROL:
        if len(tail) == 2:
            return 2
        raising = verb in ("want", "wish", "appear", "seem", "tend")
        return 2 if not raising and is_preposition(tail[2]) and tail[2].core != "to" else None
    return 0 if len(tail) > 2 and verb not in ("need", "like", "prefer", "expect", "have") else None
