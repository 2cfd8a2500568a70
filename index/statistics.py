"""What lexical scores need to know about a corpus beyond one passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts over live passages: how many, how many terms in all, and how many hold each term (`df`).

    Statistics of disjoint corpora add up, so that segments, and later machines, score as one corpus would.

    >>> both = CorpusStatistics(2, 7, {"mill": 1}) + CorpusStatistics(3, 8, {"mill": 2, "owl": 1})
    >>> (both.n_docs, both.avgdl, both.df["mill"])
    (5, 3.0, 3)
    """

    n_docs: int
    total_length: int
    df: Mapping[str, int]

    @property
    def avgdl(self) -> float:
        """The mean length of a passage in terms; 0 for an empty corpus."""
        return self.total_length / self.n_docs if self.n_docs else 0.0

    def __add__(self, other: CorpusStatistics) -> CorpusStatistics:
        """The statistics of both corpora taken as one."""
        df = Counter(self.df)
        df.update(other.df)
        return CorpusStatistics(self.n_docs + other.n_docs, self.total_length + other.total_length, df)
