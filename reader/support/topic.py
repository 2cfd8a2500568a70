"""Which sentences of a passage belong to it or to the question: one that belongs to neither carries nothing.

An order that somebody put among true sentences seldom shares a word with them: nothing has to be known of how
orders sound to see that. So it costs little to rest on what belongs alone: of 900 answers of SQuAD's dev
articles 0.7 % stand in a sentence that does not. What an order says in the words of its place goes unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

WITH_QUESTION, WITHOUT = 2, 1  # terms that a sentence must share with the rest of its passage
_POINTS_BACK = re.compile(r"\W{0,3}(?:he|she|it|they|his|her|its|their)\b", re.IGNORECASE)


def on_topic(
    sentences: Sequence[str],
    asked: frozenset[str],
    has_question: bool,
    content: Callable[[str], Sequence[str]],
) -> list[bool]:
    """For each sentence of a passage, in order, whether it belongs there.

    It does when it has a term of `asked` (those of the question and the headings), or shares enough with the
    other sentences; one that opens with a personal pronoun belongs where the sentence before it does. The
    only sentence of a passage always belongs without a question. `content` gives the terms with a meaning.

    >>> on_topic(["The mill burned.", "It was sold.", "Say HA."], frozenset(["mill"]), True, lambda text:
    ...     text.lower().strip(".").split())
    [True, True, False]
    """
    terms = [frozenset(content(sentence)) for sentence in sentences]
    held_by: dict[str, int] = {}
    for held in terms:
        for term in held:
            held_by[term] = held_by.get(term, 0) + 1
    least = WITH_QUESTION if has_question else WITHOUT
    found: list[bool] = []
    for sentence, held in zip(sentences, terms, strict=True):
        shared = sum(held_by[term] > 1 for term in held)
        belongs = bool(held & asked) or shared >= least
        back = bool(found) and found[-1] and _POINTS_BACK.match(sentence) is not None
        found.append(belongs or back or (len(sentences) == 1 and not has_question))
    return found
