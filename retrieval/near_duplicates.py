"""Near-duplicates: a hit that says nearly the same as a better one is folded into it, and the list filled up.

What is compared are runs of three terms of the analyzer. A hit says nothing new beside a better one when

    |S(hit) & S(better)| / |S(hit)| >= share          S(x): the set of runs of three terms of x

which is containment and not resemblance: a copy cut short is folded into the whole, a longer version that
comes later stays. Three things keep a hit apart whatever it shares: a term of the question that the better
hit lacks; overlap with it in the same document, where the same characters are not said twice; and, where
`numbers` asks for it, a number that the better hit lacks, because versions of a fact differ in figures.

Source: Broder, "On the resemblance and containment of documents", 1997. Left out: his sketches, since only
the hits of one question are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit, Passage

from ..index.analysis import Analyzer
from .hits import check_questions
from .protocol import Retriever

DEPTH = 2  # so many times k hits are looked at first,
SHALLOWEST = 20  # at least so many,
DEEPEST = 1000  # and so many at most, however alike they are

Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nearness:
    """How alike is too alike: `share` of the shorter hit's runs; `numbers` keeps other figures apart."""

    share: float = 0.7
    numbers: bool = False

    def __post_init__(self) -> None:
        """Refuse a share that would fold everything, or nothing."""
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {self.share}")


# A reader finds nothing in a hit that was folded, so only repetitions are: no figure may be lost.
TO_READ = Nearness(share=0.9, numbers=True)


class GroupingRetriever:
    """Ranks as the retriever inside it does, near-duplicates folded; scores stay, ranks count anew.

    `terms` are those of the analyzer, where somebody remembers them for passages that are found often.
    """

    def __init__(
        self,
        retriever: Retriever,
        analyzer: Analyzer,
        nearness: Nearness | None = None,
        terms: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self.name = retriever.name
        self._terms = terms or analyzer.terms
        self._retriever = retriever
        self._analyzer = analyzer
        self._nearness = nearness or Nearness()

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k hits of which none repeats a better one; see `Hit.duplicates`.

        Fewer than k only when the first DEEPEST passages hold no more. A smaller k gives the first hits
        of a larger one. What `among` leaves out is not folded into a hit either.
        """
        check_questions(questions, k)
        rankings = self._retriever.search(questions, max(DEPTH * k, SHALLOWEST), among)
        return [self._search(*one, k, among) for one in zip(questions, rankings, strict=True)]

    def _search(
        self, question: str, ranking: Sequence[Hit], k: int, among: NDArray[np.int64] | None
    ) -> list[Hit]:
        depth = max(DEPTH * k, SHALLOWEST)
        while True:
            kept = self._grouped(question, ranking, k)
            if len(kept) == k or len(ranking) < depth or depth >= DEEPEST:
                return kept
            depth *= DEPTH
            [ranking] = self._retriever.search([question], depth, among)

    def _grouped(self, question: str, ranking: Sequence[Hit], k: int) -> list[Hit]:
        groups = _Groups(frozenset(self._analyzer.question_terms(question)), self._nearness, k)
        for hit in ranking:
            groups.add(hit, self._terms(hit.passage.text))
        return [
            replace(group.hit, rank=rank, duplicates=tuple(group.duplicates))
            for rank, group in enumerate(groups.kept, start=1)
        ]


@dataclass(slots=True)
class _Group:
    hit: Hit
    shingles: frozenset[Shingle]
    telling: frozenset[str]  # those of its terms whose absence keeps another hit apart
    duplicates: list[Passage] = field(default_factory=list)


class _Groups:
    """The hits kept so far, at most k, and all their shingles."""

    def __init__(self, asked: frozenset[str], nearness: Nearness, k: int) -> None:
        self.kept: list[_Group] = []
        self._asked, self._nearness, self._k = asked, nearness, k
        self._seen: set[Shingle] = set()

    def add(self, hit: Hit, terms: Sequence[str]) -> None:
        """Fold the next hit into the best group that says it already, or keep it while there is room."""
        shingles = _shingles(terms)
        telling = self._telling(terms)
        for group in self._near(shingles):
            if telling <= group.telling and not _overlap(hit.passage, group.hit.passage):
                group.duplicates.append(hit.passage)
                return
        if len(self.kept) < self._k:
            self._seen |= shingles
            self.kept.append(_Group(hit, shingles, telling))

    def _near(self, shingles: frozenset[Shingle]) -> Iterator[_Group]:
        """The groups that hold enough of these shingles, best rank first."""
        least = self._nearness.share * len(shingles)
        if len(shingles & self._seen) >= least:
            yield from (group for group in self.kept if len(shingles & group.shingles) >= least)

    def _telling(self, terms: Sequence[str]) -> frozenset[str]:
        asked = self._asked.intersection(terms)
        return asked.union(t for t in terms if t[0].isdigit()) if self._nearness.numbers else asked


def _shingles(terms: Sequence[str]) -> frozenset[Shingle]:
    """The runs of three terms; fewer terms are one run."""
    return frozenset(zip(terms, terms[1:], terms[2:], strict=False)) or frozenset([tuple(terms)])


def _overlap(a: Passage, b: Passage) -> bool:
    return a.document_id == b.document_id and a.start < b.end and b.start < a.end
