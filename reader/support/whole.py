"""What can be said of a summary as a whole: what it leaves out, whether it contradicts itself, its length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from .days import days
from .numbers import numbers, without_numbers
from .verdict import Support

SAME_STATEMENT = 0.7  # of the content words of the shorter sentence, that both have


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the pieces of evidence a summary rests on, and the numbers of those it leaves out.

    `findings_left_out` are those among them that hold a number or a date: the findings of a report.
    """

    share: float
    left_out: tuple[int, ...]
    findings_left_out: tuple[int, ...]


def coverage(supports: Sequence[Support], evidence: Sequence[str]) -> Coverage:
    """What the sentences of a summary rest on together; a share of 1 where there is no evidence."""
    used = {at for support in supports for at in support.aligned}
    left = tuple(at for at in range(len(evidence)) if at not in used)
    findings = tuple(at for at in left if numbers(evidence[at]) or days(evidence[at]))
    return Coverage(1 - len(left) / len(evidence) if evidence else 1.0, left, findings)


def inconsistent(sentences: Sequence[str], content: Callable[[str], Sequence[str]]) -> list[tuple[int, int]]:
    """Pairs of sentences that say the same with as many other numbers, by place.

    The same is said where SAME_STATEMENT of the content words other than numbers of the shorter are common.
    """
    values = [frozenset(number.value for number in numbers(sentence)) for sentence in sentences]
    words = [frozenset(content(without_numbers(sentence))) for sentence in sentences]
    return [
        (one, other)
        for one, other in combinations(range(len(sentences)), 2)
        if values[one] and len(values[one]) == len(values[other]) and not values[one] & values[other]
        if len(words[one] & words[other]) >= SAME_STATEMENT * max(1, min(len(words[one]), len(words[other])))
    ]


def words_over(text: str, most: int) -> int:
    """How many words, by white space, a text has beyond `most`; 0 where it is short enough."""
    return max(0, len(text.split()) - most)
