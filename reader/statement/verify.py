"""The last look at a statement: the answer once, and nothing else that the question did not say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .inflection import forms, lemmas_of_verb
from .words import ARTICLES, ASKING, PREPOSITIONS, Word, words_of

_ADDED = ARTICLES | PREPOSITIONS | {"because", "age"}
_RELATIVE = frozenset("who which where when".split())


def holds(text: str, answer: str, question: Sequence[Word]) -> bool:
    """Whether the words of the answer stand once in the text, and all others come from the question.

    Other words may be articles, prepositions, and other forms of verbs of the question. An asking word
    is left only where it is relative: behind a noun, in a question that asks with another one.
    """
    said, answered = _plain(words_of(text)), _plain(words_of(answer))
    places = [at for at in range(len(said)) if said[at : at + len(answered)] == answered]
    if len(places) != 1 or not answered:
        return False
    others = said[: places[0]] + said[places[0] + len(answered) :]
    asked = _plain(question)
    left = [word for word in others if word in ASKING]
    if any(word not in _RELATIVE for word in left) or len(left) >= sum(word in ASKING for word in asked):
        return False
    known = set(asked) | _ADDED | _forms(word for word in asked if word not in ASKING)
    return all(word in known for word in others)


def _plain(words: Sequence[Word]) -> list[str]:
    return [plain for word in words if (plain := word.core.casefold().rstrip(".,;:\"”’'"))]


def _forms(words: Iterable[str]) -> set[str]:
    return {
        form
        for word in words
        for lemma in lemmas_of_verb(word)
        for found in (*forms(lemma).values(), (lemma,))
        for form in found
    }
