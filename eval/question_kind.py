"""Groups of questions for a report: by the question's word, by the length and kind of its answer, and by the
length of the passage.

All are cut by rule from the text alone, so that every report has the same groups. They leave out what
only understanding could tell: "when" as a conjunction counts as a question's word, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

QUESTION_WORDS = ("who", "what", "when", "where", "which", "why", "how many", "how", "other")
"""Every value of `question_word`, in the order of a table."""

ANSWER_LENGTHS = ("no answer", "1 word", "2 words", "3-5 words", "6-10 words", "over 10 words")
"""Every value of `answer_length`, from short to long."""

ANSWER_KINDS = ("no answer", "date", "number", "name", "words")
"""Every value of `answer_kind`."""

PASSAGE_LENGTHS = ("up to 75 words", "76-150 words", "151-250 words", "over 250 words")
"""Every value of `passage_length`, from short to long."""

_WORD = re.compile(r"\b(who(?:m|se)?|what|when|where|which|why|how)\b(\s+(?:many|much)\b)?", re.IGNORECASE)
_AT_MOST = ((1, "1 word"), (2, "2 words"), (5, "3-5 words"), (10, "6-10 words"))
_PASSAGE_AT_MOST = ((75, "up to 75 words"), (150, "76-150 words"), (250, "151-250 words"))
_YEAR_OR_MONTH = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2})s?\b|\b(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December)\b"
)
_SMALL_WORDS = frozenset("a an the of and in de la von van der".split())


def question_word(question: str) -> str:
    """The first question word of the text, one of `QUESTION_WORDS`; "other" where there is none.

    "Whom" and "whose" count as "who", "how much" as "how many".

    >>> [question_word(q) for q in ("In what year did it shut?", "To whom was it sold?", "How  much is it?")]
    ['what', 'who', 'how many']
    >>> question_word("Name the miller.")
    'other'
    """
    found = _WORD.search(question)
    if found is None:
        return "other"
    word = found[1].lower()
    if word == "how" and found[2]:
        return "how many"
    return "who" if word.startswith("who") else word


def answer_length(golds: Sequence[str]) -> str:
    """The group of the shortest gold answer, counted in words between white space; see `ANSWER_LENGTHS`.

    Golds without a word are passed over; a question left with none is of the group "no answer".

    >>> answer_length(["Ada Rook", "by Ada Rook of Hull"]), answer_length([])
    ('2 words', 'no answer')
    """
    lengths = [len(gold.split()) for gold in golds if gold.strip()]
    if not lengths:
        return "no answer"
    shortest = min(lengths)
    return next((group for most, group in _AT_MOST if shortest <= most), "over 10 words")


def answer_kind(golds: Sequence[str]) -> str:
    """What the shortest gold answer looks like, one of `ANSWER_KINDS`.

    A date has a month or a year from 1000 to 2099, a number has another digit, and of a name every word
    begins with a capital, small ones such as "of" apart; a number written out counts as words.

    >>> [answer_kind([gold]) for gold in ("in 1887", "$4.9 billion", "the Mill of Hull", "a mill")]
    ['date', 'number', 'name', 'words']
    """
    texts = [gold for gold in golds if gold.strip()]
    if not texts:
        return "no answer"
    shortest = min(texts, key=lambda gold: len(gold.split()))
    if _YEAR_OR_MONTH.search(shortest):
        return "date"
    if any(character.isdigit() for character in shortest):
        return "number"
    words = [word for word in shortest.split() if word.lower() not in _SMALL_WORDS]
    return "name" if words and all(word[0].isupper() for word in words) else "words"


def passage_length(text: str) -> str:
    """The group of a passage by its words between white space; see `PASSAGE_LENGTHS`.

    >>> passage_length("the old mill")
    'up to 75 words'
    """
    words = len(text.split())
    return next((group for most, group in _PASSAGE_AT_MOST if words <= most), "over 250 words")
