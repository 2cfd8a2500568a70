"""Whether an answer that becomes the subject agrees with the verb of its question."""

from __future__ import annotations

from .inflection import has_form, is_base, lemmas_of_verb
from .phrase import is_many
from .task import Task

_SINGULAR, _PLURAL = frozenset({"is", "was", "has", "does"}), frozenset({"are", "were", "have", "do"})


def be_agrees(task: Task, thing: str) -> bool:
    """Whether one thing stands with "is", several with "are", as far as can be told for certain."""
    many = True if task.asked.kind == "count" else is_many(thing)
    if task.asked.first in _SINGULAR:
        return many is False or task.asked.kind == "amount" or task.is_share
    if task.asked.first in _PLURAL:
        return many is not False or task.is_share
    return True


def agreeing(task: Task, verb: str, thing: str) -> str | None:
    """A finite verb in the number of the answer; None where that is not certain."""
    if has_form(verb, "VBD"):
        return verb
    many = True if task.asked.kind == "count" else is_many(thing)
    if task.is_share:
        return verb
    if has_form(verb, "VBZ"):
        if many is False:
            return verb
        lemmas = [lemma for lemma in lemmas_of_verb(verb) if lemma != verb]
        return lemmas[0] if many and len(lemmas) == 1 else None
    return verb if many and is_base(verb) else None
