"""distinct-n and repetition-n: how varied a text's wording is, without any reference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .ngrams import ngrams

_WORD = re.compile(r"\w+(?:['’]\w+)*")
Tokens = Sequence[str]


def words(text: str) -> list[str]:
    """The words in lower case, without punctuation; an apostrophe inside one is kept.

    >>> words("The city's mills: 'old' ones...")
    ['the', "city's", 'mills', 'old', 'ones']
    """
    return _WORD.findall(text.lower())


def distinct_n(texts: Sequence[Tokens], n: int) -> float:
    """The share of different n-grams among all n-grams of the texts, 0..1; 0.0 when there are none.

    It falls as more texts are pooled, so compare only collections of about the same size.
    Source: Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models",
    section 5.3, with the number of n-grams below the line, as is usual now, where they have that of words.
    ValueError: n < 1.

    >>> distinct_n([words("I think that I think that I think")], 2)
    0.42857142857142855
    """
    grams: Counter[tuple[str, ...]] = Counter()
    for tokens in texts:
        grams.update(ngrams(tokens, n))
    return len(grams) / max(1, grams.total())


def repetition_n(texts: Sequence[Tokens], n: int) -> float:
    """The share of n-grams that their own text has had before, 0..1; 0.0 when there are none.

    For one text it is 1 - distinct-n; what two texts have in common is no repetition.
    Source: Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training", seq-rep-n; over all
    n-grams, where they average over texts. ValueError: n < 1.

    >>> repetition_n([words("so it goes"), words("so it goes so")], 1)
    0.14285714285714285
    """
    counted = [ngrams(tokens, n) for tokens in texts]
    total = sum(grams.total() for grams in counted)
    return (total - sum(map(len, counted))) / max(1, total)
