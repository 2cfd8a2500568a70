"""Questions with is, are, was and were: identity, passive, place and time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .agreement import be_agrees
from .asked import strands
from .finite_verb import is_participle, participle, predicate_adjective
from .inflection import (
    has_form,
    is_base,
    is_noun,
    is_only_adjective,
    is_plural,
    lemmas_of_verb,
    parts_of_speech,
)
from .object_place import NAMING
from .task import Task, is_subject, said
from .words import ARTICLES, ASKING, AUXILIARIES, CLOSED, PREPOSITIONS, Word, is_adverb, is_preposition

_DITRANSITIVE = frozenset("award give offer grant teach show pay tell promise deny send ask".split())
_TOGETHER = frozenset(
    {("out", "of"), ("up", "to"), ("as", "of"), ("from", "within"), ("outside", "of"), ("inside", "of")}
)
_NO_NOUN_PHRASE = frozenset("like worth about doing such so alive dead".split())


def with_be(task: Task) -> str | None:
    """The statement of a question such as "When was the mill built?", or None."""
    rest = task.asked.rest[1:]
    if not rest:
        return None
    if rest[0].core == "there":
        return _there(task, rest)
    if task.is_thing and _is_predicate(task, rest):
        thing = task.thing()
        return said(thing, task.asked.rest) if thing and be_agrees(task, thing) else None
    if not is_subject(rest):
        return None
    at = participle(rest, task.seen)
    if task.is_thing:
        return _of_thing(task, rest, at)
    if task.asked.kind == "measure":
        return _of_measure(task, rest, at)
    at = _predicate(rest, at)
    phrase = task.adjunct()
    if at is None or phrase is None:
        return None
    if at < 0:
        alone = _is_noun_phrase(rest, ("of",)) and not _has_bare_role(rest)
        return said(rest, task.asked.first, phrase) if alone else None
    if strands(rest) or _has_gap(rest) or not _is_simple(rest[:at]):
        return None
    return said(rest[:at], task.asked.first, rest[at:], phrase)


def _there(task: Task, rest: Sequence[Word]) -> str | None:
    """ "How many mills are there in Ely?" """
    thing = task.thing()
    if task.asked.kind != "count" or thing is None or (len(rest) > 1 and not is_preposition(rest[1])):
        return None
    return said("there", task.asked.first, thing, rest[1:])


def _is_predicate(task: Task, rest: Sequence[Word]) -> bool:
    """Whether the answer is the subject: a participle, adjective, preposition or bare noun follows "be"."""
    first = rest[0]
    if first.is_name:
        return False
    skipped = 1 if is_adverb(first) and len(rest) > 1 else 0
    word = rest[skipped]
    following = rest[skipped + 1] if skipped + 1 < len(rest) else None
    goes_on = following is None or is_preposition(following) or following.core in (*ARTICLES, "by", "to")
    if is_preposition(word) and word.core not in ("like", "about"):
        return not strands(rest)
    if strands(rest):
        return False
    if is_participle(word) or (word.core.islower() and is_only_adjective(word.core)):
        return goes_on
    bare = word.core.islower() and is_noun(word.core) and not is_plural(word.core)
    return task.asked.kind == "who" and bare and following is not None and is_preposition(following)


def _predicate(rest: Sequence[Word], at: int | None) -> int | None:
    """Where the predicate begins, adverbs with it: a participle or an adjective; -1 where there is none."""
    if at is not None and at < 0:
        at = predicate_adjective(rest)
    while (
        at is not None
        and at > 1
        and (is_adverb(rest[at - 1]) or rest[at - 1].core in ("being", "very", "so", "most", "more", "best"))
    ):
        at -= 1
    return at


def _of_thing(task: Task, rest: Sequence[Word], at: int | None) -> str | None:
    thing = task.thing()
    be = task.asked.first
    if task.is_share and thing and at is not None:
        return said(thing, be, rest)
    if thing is None and at == -1 and not task.asked.head and is_only_adjective(task.answer):
        thing = task.answer
    if thing is None and not (task.answer.lower().startswith("to ") and at == -1):
        return None
    if strands(rest):
        if len(rest) > 1 and is_preposition(rest[-2]):
            return None
        at = _predicate(rest, at)
        if at is None or at < 0:
            at = _second_noun_phrase(rest)
        return said(rest[:at], be, rest[at:], thing) if at and thing and _is_simple(rest[:at]) else None
    if at is None:
        return None
    if at > 0 and (named := _named(task, rest, at, thing or "")) is not None:
        return named
    if (at > 0 and not _is_added(rest, at)) or not _is_noun_phrase(rest, None):
        return None
    if task.asked.kind == "count":
        return None
    if _names_first(task, rest) or _is_bare_role(rest):
        return (
            said(thing, be, rest) if thing and task.answer[0].isupper() and be_agrees(task, thing) else None
        )
    return said(rest, be, thing or task.answer)


def _is_added(rest: Sequence[Word], at: int) -> bool:
    """Whether the participle there only describes a noun: "the river named after Ada" is one thing."""
    if at == len(rest) - 1 or has_form(rest[at].core, "VBG") or rest[0].lower not in ARTICLES:
        return False
    given = _lemmas(rest[at]) & (_DITRANSITIVE | NAMING)
    if given and rest[at - 1].core not in ("name", "title", "term", "nickname"):
        return False
    return is_preposition(rest[at + 1])


def _lemmas(word: Word) -> frozenset[str]:
    return frozenset(lemmas_of_verb(word.core))


def _named(task: Task, rest: Sequence[Word], at: int, thing: str) -> str | None:
    """ "What was the dog called?", "What was Ada awarded in 1911?", "What is it used to make?" """
    if not _is_simple(rest[:at]):
        return None
    be, tail = task.asked.first, rest[at + 1 :]
    lemmas = _lemmas(rest[at])
    begin = _predicate(rest, at) or at
    adjunct = not tail or (is_preposition(tail[0]) and tail[0].core != "as")
    if lemmas & NAMING and adjunct and rest[at - 1].core not in ("name", "term"):
        return said(rest[:begin], be, rest[begin : at + 1], thing, tail)
    names_only = all(word.is_name for word in rest[:at])
    if lemmas & _DITRANSITIVE and adjunct and names_only:
        return said(rest[:begin], be, rest[begin : at + 1], thing, tail)
    if len(tail) == 2 and tail[0].core == "to" and is_base(tail[1].core) and not is_noun(tail[1].core):
        return said(rest[:begin], be, rest[begin:], thing)
    return None


def _second_noun_phrase(rest: Sequence[Word]) -> int | None:
    """Where "a member of" begins in "Who is Ada a member of?": the only later "a", "an" or "part"."""
    if len(rest) == 2 and rest[0].is_name:
        return 1
    if all(word.is_name for word in rest[:-1]):
        return len(rest) - 1
    found = [at for at in range(1, len(rest)) if rest[at].core in ("a", "an", "part")]
    if len(found) != 1 or rest[found[0] - 1].core in PREPOSITIONS:
        return None
    return found[0]


def _is_noun_phrase(rest: Sequence[Word], allowed: tuple[str, ...] | None) -> bool:
    """Whether words are one noun phrase, with no other prepositions than those allowed (None: all)."""
    last = rest[-1]
    if (
        strands(rest)
        or last.core in _NO_NOUN_PHRASE
        or (last.core.islower() and is_only_adjective(last.core))
    ):
        return False
    if any(word.core in _NO_NOUN_PHRASE for word in rest):
        return False
    if not last.is_name and not is_noun(last.core) and not _is_new_noun(rest):
        return False
    if _has_gap(rest) or not _has_one_head(rest) or (len(rest) > 1 and rest[-2].core == "to"):
        return False
    inside = [word.core for word in rest if is_preposition(word)]
    if allowed is not None and any(core not in allowed for core in inside):
        return False
    begins = rest[0].is_name or rest[0].lower in ARTICLES or is_plural(rest[0].core)
    return begins or len(rest) == 1 or is_noun(rest[0].core)


def _is_new_noun(rest: Sequence[Word]) -> bool:
    """Whether the last word is one that the dictionary does not know, behind an article or preposition."""
    known = parts_of_speech(rest[-1].core)
    return not known and (len(rest) == 1 or rest[-2].core in ARTICLES or is_preposition(rest[-2]))


def _has_bare_role(rest: Sequence[Word]) -> bool:
    """Whether a name goes on with a noun that may be said of it: "Ada", "part of the club"."""
    return (
        any(
            before.is_name
            and not before.core.endswith(("'s", "’s"))
            and word.core.islower()
            and word.core not in CLOSED
            for before, word in pairwise(rest)
        )
        and rest[0].lower not in ARTICLES
    )


def _is_simple(subject: Sequence[Word]) -> bool:
    """Whether a subject is one noun phrase without a clause of its own."""
    clause = any(word.core in AUXILIARIES or word.core in ASKING for word in subject if not word.quoted)
    return not clause and _has_one_head(subject)


def _has_one_head(words: Sequence[Word]) -> bool:
    """Whether no article inside begins another noun phrase beside the first one."""
    return not any(
        word.core in ARTICLES
        and not (is_preposition(before) or before.ends_part or before.core in ("and", "or"))
        for before, word in pairwise(words)
        if not word.quoted and not is_participle(before) and before.core not in ("that", "which", "who")
    )


def _has_gap(words: Sequence[Word]) -> bool:
    """Whether two prepositions stand together, one of which has lost its object."""
    return any(
        is_preposition(before) and is_preposition(word) and (before.core, word.core) not in _TOGETHER
        for before, word in pairwise(words)
    )


def _names_first(task: Task, rest: Sequence[Word]) -> bool:
    """Whether "Ada was King of Ely" is meant: a name is asked for by a role that has no article."""
    owned = any(word.core == "of" or word.core.endswith(("'s", "’s")) for word in rest)
    return task.asked.kind == "who" and rest[0].is_name and owned and task.answer[0].isupper()


def _is_bare_role(rest: Sequence[Word]) -> bool:
    """Whether the words are a role without an article: "chief justice of the court", "key to success"."""
    first = rest[0]
    if first.is_name or first.core in CLOSED or is_plural(first.core):
        return False
    return any(map(is_preposition, rest))


def _of_measure(task: Task, rest: Sequence[Word], at: int | None) -> str | None:
    if at is None:
        return None
    if at < 0:
        phrase = task.measure()
        return (
            said(rest, task.asked.first, phrase) if phrase and _is_noun_phrase(rest, ("of", "in")) else None
        )
    first = task.answer.split()[0].lower()
    if task.asked.measure != "long" or task.measure() is None:
        return None
    lead = "" if first in ("for", "from", "until", "since") else "for"
    if lead and task.stands.preposition != "for":
        return None
    return said(rest[:at], task.asked.first, rest[at:], lead, task.answer)
