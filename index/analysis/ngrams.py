"""Runs of n neighbouring terms."""

from __future__ import annotations

from collections.abc import Sequence


def ngrams(terms: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """The runs of n neighbouring terms in text order; none when there are fewer than n terms.

    >>> ngrams(["the", "black", "cat"], 2)
    [('the', 'black'), ('black', 'cat')]
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    return [tuple(terms[start : start + n]) for start in range(len(terms) - n + 1)]
