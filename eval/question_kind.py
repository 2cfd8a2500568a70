"""Groups of questions for a report: by the question's word, and by the length of its answer.

Both are cut by rule from the text alone, so that every report has the same groups. They leave out what
only understanding could tell: "when" as a conjunction counts as a question's word, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

QUESTION_WORDS = ("who", "what", "when", "where", "which", "why", "how many", "how", "other")
"""Every value of `question_word`, in the order of a table."""

ANSWER_LENGTHS = ("no answer", "1 word", "2 words", "3-5 words", "6-10 words", "over 10 words")
"""Every value of `answer_length`, from short to long."""

_WORD = re.compile(r"\b(who(?:m|se)?|what|when|where|which|why|how)\b(\s+(?:many|much)\b)?", re.IGNORECASE)
_AT_MOST = ((1, "1 word"), (2, "2 words"), (5, "3-5 words"), (10, "6-10 words"))


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
