"""Subject questions without an auxiliary, and questions that end with the words that ask."""

from __future__ import annotations

from collections.abc import Sequence

from .agreement import agreeing
from .asked import is_auxiliary, strands
from .inflection import has_form, is_base
from .task import Task, is_subject, said
from .words import ASKING, BE, Word, is_adverb, is_preposition

_NO_SUBJECT = frozenset("happened happens occurred occurs".split())


def as_subject(task: Task) -> str | None:
    """The statement of a question such as "Who built the mill?": the answer is its subject; or None."""
    rest = task.asked.rest
    at = 1 if is_adverb(rest[0]) and len(rest) > 1 else 0
    verb = rest[at].core
    if not task.is_thing or rest[at].is_name or verb in _NO_SUBJECT or not _is_finite(verb):
        return None
    if len(rest) == at + 1 or strands(rest):
        return None
    if any(is_auxiliary(word.core) and not word.quoted for word in rest[at + 1 :]) and not _has_relative(
        rest
    ):
        return None
    thing = task.thing() if not task.asks_quality else None
    agreed = agreeing(task, verb, thing) if thing else None
    return said(thing or "", rest[:at], agreed, rest[at + 1 :]) if agreed else None


def _is_finite(verb: str) -> bool:
    return has_form(verb, "VBD") or has_form(verb, "VBZ") or is_base(verb)


def _has_relative(rest: Sequence[Word]) -> bool:
    return any(word.core in ("that", "who", "which", "when", "where") for word in rest)


def at_the_end(words: Sequence[Word], task: Task) -> str | None:
    """The statement of "The mill stands in which town?": the last words ask, and give way; or None."""
    before = words[: next(at for at, word in enumerate(words) if word.lower in ASKING and not word.quoted)]
    if not is_subject(before) or is_auxiliary(before[0].lower):
        return None
    if task.is_thing and task.asked.kind == "thing" and before and is_preposition(before[-1]):
        first = task.answer.split()[0].lower()
        if first == before[-1].core:
            return said(before[:-1], task.answer)
    phrase = task.thing() if task.is_thing else task.adjunct()
    if task.asks_quality and before[-1].core not in BE:
        return None
    return said(before, phrase) if phrase else None
