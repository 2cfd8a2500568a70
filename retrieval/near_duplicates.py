"""Near-duplicates: a hit that says nearly the same as a better one is folded into it, and the list filled up.

What is compared are runs of three terms of the analyzer. A hit says nothing new beside a better one when

    |S(hit) & S(better)| / |S(hit)| >= share          S(x): the set of runs of three terms of x

which is containment and not resemblance: a copy cut short is folded into the whole, a longer version that
comes later stays. Three things keep a hit apart whatever it shares: a term of the question that the better
hit lacks; overlap with it in the same document, where the same characters are not said twice; and, where
`numbers` asks for it, a number that the better hit lacks, because versions of a fact differ in figures.

Source: Broder, "On the resemblance and containment of documents", 1997. Left out: his sketches, which
estimate the share. Those of `sketch` only bound it: where enough may be shared, the sets themselves decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Hit, Passage

from ..index.analysis import Analyzer
from .hits import check_questions
from .protocol import Retriever
from .sketch import Shingle, Sketch, shingles, sketch

DEPTH = 2  # so many times k hits are looked at first,
SHALLOWEST = 20  # at least so many,
DEEPEST = 1000  # and so many at most, however alike they are


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

    `sketch_of` makes the sketch of a text, where somebody remembers those of passages that are found often.
    """

    def __init__(
        self,
        retriever: Retriever,
        analyzer: Analyzer,
        nearness: Nearness | None = None,
        sketch_of: Callable[[str], Sketch] | None = None,
    ) -> None:
        self.name = retriever.name
        self._sketch_of = sketch_of or (lambda text: sketch(analyzer.terms(text)))
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
            groups.add(_Group(hit, self._sketch_of(hit.passage.text)))
        return [group.at(rank) for rank, group in enumerate(groups.kept, start=1)]


class _Group:
    """A hit, and the passages that are folded into it."""

    __slots__ = ("_shingles", "bits", "duplicates", "hit", "sketch")

    def __init__(self, hit: Hit, sketch: Sketch) -> None:
        self.hit, self.sketch, self.bits = hit, sketch, sketch.bits
        self.duplicates: list[Passage] = []
        self._shingles: frozenset[Shingle] | None = None

    @property
    def shingles(self) -> frozenset[Shingle]:
        """The runs of the hit, made when they are first wanted: those of most hits never are."""
        if self._shingles is None:
            self._shingles = shingles(self.sketch.terms)
        return self._shingles

    def at(self, rank: int) -> Hit:
        """The hit at this rank with what is folded into it."""
        if self.hit.rank == rank and not self.duplicates and not self.hit.duplicates:
            return self.hit
        return replace(self.hit, rank=rank, duplicates=tuple(self.duplicates))


class _Groups:
    """The hits kept so far, at most k."""

    def __init__(self, asked: frozenset[str], nearness: Nearness, k: int) -> None:
        self.kept: list[_Group] = []
        self._asked, self._nearness, self._k = asked, nearness, k

    def add(self, said: _Group) -> None:
        """Fold the next hit into the best group that says it already, or keep it while there is room."""
        for group in self._near(said):
            if not _overlap(said.hit.passage, group.hit.passage) and self._tells_no_more(said, group):
                group.duplicates.append(said.hit.passage)
                return
        if len(self.kept) < self._k:
            self.kept.append(said)

    def _near(self, said: _Group) -> list[_Group]:
        """The groups that hold enough of its shingles, best rank first."""
        least = self._nearness.share * said.sketch.n_shingles
        most_shared = said.sketch.most_shared
        near = [group for group in self.kept if most_shared(group.bits) >= least]
        return [group for group in near if len(said.shingles & group.shingles) >= least]

    def _tells_no_more(self, said: _Group, group: _Group) -> bool:
        return self._telling(said.sketch.terms) <= self._telling(group.sketch.terms)

    def _telling(self, terms: Sequence[str]) -> frozenset[str]:
        """Those of the terms whose absence keeps another hit apart."""
        asked = self._asked.intersection(terms)
        return asked.union(t for t in terms if t[0].isdigit()) if self._nearness.numbers else asked


def _overlap(a: Passage, b: Passage) -> bool:
    return a.document_id == b.document_id and a.start < b.end and b.start < a.end
