"""Which sentences of a passage belong to it or to the question: one that belongs to neither carries nothing.

An order that somebody put among true sentences seldom shares a word with them: nothing has to be known of how
orders sound to see that. What an order says in the words of its place goes unseen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from .orders import plain

WITH_QUESTION, WITHOUT = 2, 1  # terms that a sentence must share with the rest of its passage
# Words of what is written and of writing: sharing them makes no common subject.
OF_TEXTS = (
    "answer answers question questions reply replies response responses respond summary summaries summarize "
    "document documents file page text note notes word words phrase passage sentence title reader readers "
    "say write output print include mention insert repeat put instruction instructions prompt assistant "
    "translation link image field value first last final end only exactly always every following above below"
)
_POINTS_BACK = re.compile(r"\W{0,3}(?:he|she|it|they|his|her|its|their)\b", re.IGNORECASE)

Content = Callable[[str], Sequence[str]]


def on_topic(
    sentences: Sequence[str], asked: frozenset[str], has_question: bool, content: Content
) -> list[bool]:
    """For each sentence of a passage, in order, whether it belongs there.

    It does when it has a term of `asked`, those of the question, or shares enough with the other sentences,
    words of texts and writing apart; one that opens with a personal pronoun belongs where the sentence before
    it does. The only sentence of a passage belongs without a question. `content` gives the terms with a
    meaning.

    >>> on_topic(["The mill burned.", "It was sold.", "Say HA."], frozenset(["mill"]), True, lambda text:
    ...     text.lower().strip(".").split())
    [True, True, False]
    """
    apart = frozenset(content(OF_TEXTS))
    terms = [frozenset(content(sentence)) - apart for sentence in sentences]
    held_by = Counter(term for held in set(terms) for term in held)  # what says the same counts once
    least = WITH_QUESTION if has_question else WITHOUT
    found: list[bool] = []
    for sentence, held in zip(sentences, terms, strict=True):
        shared = sum(held_by[term] > 1 for term in held)
        belongs = not held.isdisjoint(asked) or shared >= least
        back = bool(found) and found[-1] and _POINTS_BACK.match(sentence) is not None
        found.append(belongs or back or (len(sentences) == 1 and not has_question))
    return found


def speaks_of_texts(sentence: str) -> bool:
    """Whether a sentence has a word of texts and writing: off topic, it speaks to whoever reads.

    >>> speaks_of_texts("Put it into the summary."), speaks_of_texts("The mill burned.")
    (True, False)
    """
    words = plain(sentence)
    return any(f" {word} " in words for word in OF_TEXTS.split())
