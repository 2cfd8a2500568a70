"""The normal form of the SQuAD metrics: lower case, no ASCII punctuation, no English articles, single spaces.

It follows the official evaluation scripts of SQuAD 1.1 and 2.0, which agree here, and keeps their oddities
because scores are only comparable with them: only ASCII punctuation goes (an en dash stays), and removing
a hyphen joins its neighbours (`twenty-five` becomes `twentyfive`).
"""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """The normal form in which two answers are compared.

    Order matters and is the official one: lower case, then punctuation, then articles, then white space.
    Source: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", section 6.1.

    >>> normalize_answer("The  Eiffel Tower!")
    'eiffel tower'
    """
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def answer_tokens(text: str) -> list[str]:
    """The words of the normal form, in order; empty for a text of articles and punctuation only.

    >>> answer_tokens("the cat's mat")
    ['cats', 'mat']
    """
    return normalize_answer(text).split()
