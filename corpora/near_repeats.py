"""Texts that nearly repeat one of many: found without comparing every pair.

Two sets with a Jaccard similarity of t or more share at least t of either, so that among any
|A| - ceil(t |A|) + 1 shingles of A there is one that B has: only those of A that the fewest texts have are
looked up, and what they lead to is compared in full.

Source: Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins in Data Cleaning", 2006
(prefix filtering).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from .shingles import shingles


class NearRepeats:
    """Finds among `texts` those whose shingles are at least `least` similar to a text's.

    >>> found = NearRepeats(["Who founded the old mill of Varrow?"], 0.6)
    >>> found.like("who founded the old mill of varrow? And when?"), found.like("Who founded the tram?")
    (True, False)
    """

    def __init__(self, texts: Iterable[str], least: float = 0.8) -> None:
        if not 0 < least <= 1:
            raise ValueError(f"least must be above 0 and at most 1, not {least}")
        self.least = least
        self.sets = [found for text in dict.fromkeys(texts) if (found := shingles(text))]
        self.having: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, found in enumerate(self.sets):
            for shingle in found:
                self.having[shingle].append(number)

    def like(self, text: str) -> bool:
        """Whether one of the texts is that similar; a text without words is like none."""
        own = shingles(text)
        rarest = sorted(own, key=lambda shingle: len(self.having.get(shingle, ())))
        n_probes = len(own) - math.ceil(self.least * len(own) - 1e-9) + 1
        probed = {number for each in rarest[:n_probes] for number in self.having.get(each, ())}
        return any(self._similar(own, self.sets[number]) for number in probed)

    def _similar(self, a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> bool:
        return len(a & b) >= self.least * len(a | b) - 1e-9
