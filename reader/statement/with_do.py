"""Questions with do, does and did: the main verb gets its tense back."""

from __future__ import annotations

from collections.abc import Sequence

from .finite_verb import base_verb
from .inflection import forms, has_form, inflected, is_base
from .object_place import object_place
from .task import Task, is_subject, said
from .words import ASKING, Word, is_adverb, is_preposition

_TAGS = {"did": "VBD", "does": "VBZ"}
_LASTING = frozenset({"last", "take"})


def with_do(task: Task) -> str | None:
    """The statement of a question such as "When did Ada build the mill?", or None."""
    rest = task.asked.rest[1:]
    at = base_verb(rest, task.seen)
    if at is None or not is_subject(rest[:at]):
        return None
    lemma = rest[at].core
    if lemma == "do" and task.asked.kind == "thing" and not task.asked.head:
        return _done(task, rest[:at], rest[at + 1 :])
    tag = _TAGS.get(task.asked.first)
    verb = inflected(lemma, tag, task.seen) if tag else lemma
    if verb is None or lemma == "be":
        return None
    return completed(task, said(rest[:at], verb), lemma, rest[at + 1 :])


def with_modal(task: Task) -> str | None:
    """The statement of a question such as "What can the mill grind?", or None."""
    rest = task.asked.rest[1:]
    if not rest:
        return None
    at = base_verb(rest, task.seen)
    if at is None:
        return _subject_of_modal(task, rest)
    if not is_subject(rest[:at]) or rest[at].core in ("do", "be"):
        return None
    begin = at - 1 if at > 1 and is_adverb(rest[at - 1]) else at
    clause = said(rest[:begin], task.asked.first, rest[begin : at + 1])
    return completed(task, clause, rest[at].core, rest[at + 1 :])


def _subject_of_modal(task: Task, rest: Sequence[Word]) -> str | None:
    if not task.is_thing or rest[0].is_name or not is_base(rest[0].core):
        return None
    thing = task.thing()
    return said(thing, task.asked.rest) if thing else None


def completed(task: Task, clause: str, lemma: str, tail: Sequence[Word]) -> str | None:
    """A clause up to its verb with the answer and the words behind the verb in their places, or None."""
    kind = task.asked.kind
    if kind == "measure":
        return _lasting(task, clause, lemma, tail)
    if task.asked.head and task.asked.head[0].lower in ("times", "years", "days") and kind == "count":
        phrase = task.thing()
        return said(clause, tail, phrase) if phrase and not (tail and is_preposition(tail[-1])) else None
    if not task.is_thing:
        if any(word.core == "that" or word.core in ASKING for word in tail if not word.quoted):
            return None
        if tail and is_preposition(tail[-1]) and kind in ("place", "time"):
            return _stranded_adjunct(task, clause, tail)
        phrase = task.adjunct()
        return said(clause, tail, phrase) if phrase else None
    phrase = task.thing()
    place = object_place(lemma, tail)
    if phrase is None or place is None:
        return None
    return said(clause, tail[:place], phrase, tail[place:])


def _stranded_adjunct(task: Task, clause: str, tail: Sequence[Word]) -> str | None:
    """ "Where did Ada come from?": the preposition stands already; particles such as "up" are none."""
    if tail[-1].core in ("from", "to", "into", "through", "in", "at") and not task.asked.head:
        first = task.answer.split()[0].lower()
        if first == tail[-1].core:
            return said(clause, tail[:-1], task.answer)
        if task.asked.kind == "place" and tail[-1].core in ("from", "to", "into"):
            phrase = f"{task.stands.article} {task.answer}".strip() if not task.stands.cut else None
            return said(clause, tail, phrase) if phrase else None
        return None
    phrase = task.adjunct()
    return said(clause, tail, phrase) if phrase else None


def _lasting(task: Task, clause: str, lemma: str, tail: Sequence[Word]) -> str | None:
    if task.asked.measure != "long" or task.measure() is None:
        return None
    first = task.answer.split()[0].lower()
    if first in ("for", "from", "until", "since") or (lemma in _LASTING and not tail):
        return said(clause, tail, task.answer)
    return said(clause, tail, "for", task.answer) if task.stands.preposition == "for" else None


def _done(task: Task, subject: Sequence[Word], tail: Sequence[Word]) -> str | None:
    """What somebody did: the answer is the predicate, when it begins with a verb in that tense."""
    first = task.answer.split()[0]
    tag = _TAGS.get(task.asked.first)
    if tag is None or not has_form(first, tag) or tail:
        return None
    if tag == "VBD" and any(first in forms(lemma).get("VB", ()) for lemma in (first,)):
        return None
    return said(subject, task.answer)
