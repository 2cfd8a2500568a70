"""The lead of a candidate: how much more speaks for it than for the best one that says something else."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

MOST = 10.0


def leads(evidence: Sequence[float], said: Sequence[Hashable]) -> list[float]:
    """For each candidate its evidence less that of the best rival, cut to -10..10; 10 without a rival.

    A rival says something else: `said` are the normalised words. Of candidates in any order, the best has a
    lead of 0 or more, and those that say the same as the best may have one, too.

    >>> leads([3.0, 2.5, 1.0], ["ada rook", "ada rook", "ute falk"])
    [2.0, 1.5, -2.0]
    """
    best: dict[Hashable, float] = {}
    for one, words in zip(evidence, said, strict=True):
        best[words] = max(one, best.get(words, one))
    ordered = sorted(best.items(), key=lambda item: -item[1])[:2]
    found = []
    for one, words in zip(evidence, said, strict=True):
        rival = next((value for other, value in ordered if other != words), None)
        found.append(MOST if rival is None else max(-MOST, min(MOST, one - rival)))
    return found
