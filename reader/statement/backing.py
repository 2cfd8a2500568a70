"""Whether evidence has the words of a statement: what it does not say, the question may only have assumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .inflection import lemmas_of_verb, parts_of_speech
from .words import words_of

# These say what kind of answer was asked for, and nothing of the thing itself.
_OF_THE_ASKING = frozenset("name title term word year month date number kind type".split())


_HEDGES = frozenset(
    "almost nearly partly partially allegedly reportedly supposedly possibly perhaps probably presumably "
    "apparently may might planned proposed".split()
)
# Function words that carry no topic, and turn a meaning round.
_TURNING = frozenset(
    "before after above below under over without against since until inside outside up down off".split()
)


def unsaid(
    statement: str, evidence: Sequence[str], content: Callable[[str], Sequence[str]]
) -> tuple[str, ...]:
    """The words of a statement that stand in no piece of the evidence in any form, in order.

    `content` gives the terms of a text that carry a meaning; a word counts as said when each of its terms,
    or the dictionary form of its verb or noun, is among those of the evidence. "before" and the like must
    stand there, too. What numbers and names say is
    for the support check.

    >>> unsaid("Ada won the cup.", ["The cup that Ada wins every year."], lambda text: text.lower().split())
    ()
    """
    held = {term for piece in evidence for term in content(piece)}
    held |= {form for piece in evidence for word in words_of(piece) for form in _bases(_plain(word.core))}
    said = {_plain(word.core) for piece in evidence for word in words_of(piece)}
    found = []
    for word in words_of(statement):
        core = _plain(word.core)
        terms = content(core)
        means = terms and core not in _OF_THE_ASKING
        missing = means and not held.issuperset(terms) and not held & _bases(core)
        if missing or (core in _TURNING and core not in said):
            found.append(core)
    return tuple(found)


def unhedged(statement: str, sentence: str) -> str:
    """The first word by which a sentence takes back what it says, and which the statement leaves out.

    The empty string where there is none.

    >>> unhedged("The mill was destroyed.", "The mill was almost destroyed.")
    'almost'
    """
    said = {word.core for word in words_of(statement)}
    return next(
        (word.core for word in words_of(sentence) if word.core in _HEDGES and word.core not in said), ""
    )


def _plain(core: str) -> str:
    return core.lower().rstrip(".!?\"'”’").removesuffix("'s").removesuffix("’s")


def _bases(word: str) -> set[str]:
    """The verbs and nouns that a word can be a form of."""
    return {*lemmas_of_verb(word), *parts_of_speech(word).get("NOUN", ())}
