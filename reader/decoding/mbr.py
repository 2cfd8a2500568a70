"""Choosing among several texts by how they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean


def unigram_f1(one: str, other: str) -> float:
    """F1 of the words of two texts, as they stand, by white space, counted as often as they occur."""
    a, b = Counter(one.split()), Counter(other.split())
    return 2 * sum((a & b).values()) / max(1, sum(a.values()) + sum(b.values()))


def expected_likeness(
    texts: Sequence[str], likeness: Callable[[str, str], float] = unigram_f1
) -> list[float]:
    """For each text the mean likeness to the others: minimum Bayes risk takes the greatest (Kumar and Byrne
    2004). 1 for a text without others.
    """
    return [
        fmean(likeness(text, other) for at, other in enumerate(texts) if at != number)
        if len(texts) > 1
        else 1.0
        for number, text in enumerate(texts)
    ]


def majority(texts: Sequence[str]) -> tuple[str, int]:
    """The text that was given most often, of equals the first, and how often (Wang et al. 2023).

    ValueError without any.

    >>> majority(["A", "A", "B", "A", "C"])
    ('A', 3)
    """
    if not texts:
        raise ValueError("there is no text to choose from")
    return Counter(texts).most_common(1)[0]


def agreed(texts: Sequence[str]) -> tuple[str, float]:
    """The text to take of several that were drawn, and the share of them that are it, above 0.

    That given most often; where none was given twice, that with the greatest expected likeness, of equals the
    first. ValueError without any.

    >>> agreed(["It burned.", "It burned down.", "It burned."])[0]
    'It burned.'
    """
    text, count = majority(texts)
    if count == 1:
        likeness = expected_likeness(texts)
        text = texts[likeness.index(max(likeness))]
    return text, count / len(texts)
