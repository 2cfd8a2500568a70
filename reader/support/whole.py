"""What can be said of a summary as a whole: what it leaves out, whether it contradicts itself, its length."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from .days import days
from .numbers import numbers, without_numbers

SAME_STATEMENT = 0.7  # of the content words of the shorter sentence, that both have


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of how many pieces of evidence, and the numbers of those that a summary does not rest on.

    `findings_left_out` are those among them that hold a number or a date: the findings of a report.
    """

    pieces: int
    left_out: tuple[int, ...]
    findings_left_out: tuple[int, ...]

    @property
    def rested_on(self) -> int:
        """How many pieces a summary rests on."""
        return self.pieces - len(self.left_out)

    @property
    def share(self) -> float:
        """That as a share of all of them, 0..1; 1 where there are none."""
        return self.rested_on / self.pieces if self.pieces else 1.0


def coverage(rested_on: Collection[int], evidence: Sequence[str]) -> Coverage:
    """What a summary leaves out that rests on these pieces of evidence, given by number."""
    left = tuple(at for at in range(len(evidence)) if at not in rested_on)
    findings = tuple(at for at in left if numbers(evidence[at]) or days(evidence[at]))
    return Coverage(len(evidence), left, findings)


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
