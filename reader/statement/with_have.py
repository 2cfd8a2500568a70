"""Questions with has, have and had: perfect tenses, and things that somebody has."""

from __future__ import annotations

from .agreement import be_agrees
from .asked import strands
from .finite_verb import is_participle, participle
from .inflection import lemmas_of_verb
from .task import Task, is_subject, said
from .with_do import completed
from .words import ARTICLES, POSSESSIVES, is_adverb


def with_have(task: Task) -> str | None:
    """The statement of a question such as "Who has won the cup?" or "What prizes has Ada won?", or None."""
    rest = task.asked.rest[1:]
    if not rest:
        return None
    at_first = 1 if is_adverb(rest[0]) and len(rest) > 1 else 0
    if task.is_thing and (rest[at_first].core == "been" or is_participle(rest[at_first])):
        return _as_subject(task)
    at = participle(rest, task.seen)
    been = next((place for place, word in enumerate(rest) if word.core == "been" and place), None)
    if been is not None:
        at = been
    if at is None:
        return None
    if at < 0:
        owned = rest[0].lower in ARTICLES or rest[0].lower in POSSESSIVES or is_adverb(rest[0])
        return _as_subject(task) if task.is_thing and owned and not strands(rest) else None
    if not is_subject(rest[:at]):
        return None
    if task.is_thing and not all(word.is_name for word in rest[:at]) and at < len(rest) - 1:
        return None
    if been is not None and task.is_thing:
        return None
    lemmas = lemmas_of_verb(rest[at].core)
    begin = at - 1 if at > 1 and is_adverb(rest[at - 1]) else at
    clause = said(rest[:begin], task.asked.first, rest[begin : at + 1])
    return completed(task, clause, lemmas[0], rest[at + 1 :])


def _as_subject(task: Task) -> str | None:
    thing = task.thing()
    if thing is None or not be_agrees(task, thing):
        return None
    return said(thing, task.asked.rest)
