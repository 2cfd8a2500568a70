"""n-grams: the runs of n tokens in a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each n-gram occurs; none where there are fewer than n tokens. ValueError: n < 1.

    >>> ngrams("to be or not to be".split(), 2).most_common(1)
    [(('to', 'be'), 2)]
    """
    if n < 1:
        raise ValueError(f"n is {n}; expected at least 1")
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))
