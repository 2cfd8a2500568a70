"""Near-duplicates: hits that repeat a better one are folded into it, and later hits take their places.

Two passages are compared by their term 3-grams. A hit repeats a better one when

    |S(hit) & S(better)| / |S(hit)| >= share          S(x): the set of term 3-grams of x

This is containment, not resemblance. A shortened copy is folded into the full text, but a longer version is
not folded into a shorter one. A hit with a term of the question that the better hit lacks is not folded, nor
is one that overlaps with it; terms of the question in a path count. Where one of two hits lacks a term of the
question, the share must be 1: sheets of one template stay apart. With `numbers`, or a number in the question,
a hit with a number that the better hit lacks is not folded: versions of a fact differ in their figures.

Source: Broder, "On the resemblance and containment of documents", 1997. Deviation: no sketches.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from spanwise.types import Hit, Passage

from ..index.analysis import Analyzer
from ..index.protocol import Ids
from .protocol import Retriever
from .stage import check_questions

DEPTH = 2  # DEPTH * k hits are compared at first
MIN_DEPTH = 20
MAX_DEPTH = 1000

Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DuplicateRule:
    """When a hit repeats a better one.

    share: the fraction of its 3-grams that the better hit must hold, above 0 and at most 1.
    numbers: True to keep a hit that has a number which the better hit lacks.
    """

    share: float = 0.7
    numbers: bool = False

    def __post_init__(self) -> None:
        """ValueError for a share that folds everything, or nothing."""
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {self.share}")


# The reader does not see folded hits, so only true repetitions may be folded before it reads.
READING_RULE = DuplicateRule(share=0.9, numbers=True)


class DeduplicatingRetriever:
    """Ranks as `retriever` does, with near-duplicates folded; ranks are renumbered, scores do not change.

    `terms_of` gives the terms of a passage's text, for callers that cache them.
    """

    def __init__(
        self,
        retriever: Retriever,
        analyzer: Analyzer,
        rule: DuplicateRule | None = None,
        terms_of: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self.name = retriever.name
        self._retriever = retriever
        self._analyzer = analyzer
        self._rule = rule or DuplicateRule()
        self._terms_of = terms_of or analyzer.terms

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question, none of which repeats a better one; see `Hit.duplicates`.

        There are fewer than k only if the first MAX_DEPTH passages hold no more. The hits for a smaller k are
        the first hits for a larger one. Passages outside `among` are never folded into a hit.
        """
        check_questions(questions, k)
        rankings = self._retriever.search(questions, max(DEPTH * k, MIN_DEPTH), among)
        return [
            self._filled(question, ranking, k, among)
            for question, ranking in zip(questions, rankings, strict=True)
        ]

    def _filled(self, question: str, ranking: Sequence[Hit], k: int, among: Ids | None) -> list[Hit]:
        """The deduplicated hits; while they are fewer than k, the search is repeated with more passages.

        Retrievers cache the encoded questions of the last search, so no question is encoded again.
        """
        depth = max(DEPTH * k, MIN_DEPTH)
        while True:
            hits = self._deduplicated(question, ranking, k)
            if len(hits) == k or len(ranking) < depth or depth >= MAX_DEPTH:
                return hits
            depth *= DEPTH
            [ranking] = self._retriever.search([question], depth, among)

    def _deduplicated(self, question: str, ranking: Sequence[Hit], k: int) -> list[Hit]:
        question_terms = frozenset(self._analyzer.question_terms(question))
        groups: list[_Group] = []
        groups_with: dict[Shingle, list[int]] = defaultdict(list)  # 3-gram -> positions in `groups`
        for hit in ranking:
            terms = self._terms_of(hit.passage.readable)
            grams = shingles(terms)
            names = self._analyzer.name_terms(hit.passage.document_id)
            distinctive = self._distinctive(terms, question_terms) | (question_terms & names)
            n_shared = Counter(chain.from_iterable([groups_with.get(gram, ()) for gram in grams]))
            near = sorted(position for position, n in n_shared.items() if n >= self._rule.share * len(grams))
            # Where the question tells near-duplicates apart, only repetitions are folded.
            if any(question_terms & (groups[position].distinctive ^ distinctive) for position in near):
                near = [position for position in near if n_shared[position] == len(grams)]
            folds_into = (groups[position] for position in near)
            group = next((group for group in folds_into if group.can_hold(hit, distinctive)), None)
            if group is not None:
                group.duplicates.append(hit.passage)
            elif len(groups) < k:
                for gram in grams:
                    groups_with[gram].append(len(groups))
                groups.append(_Group(hit, distinctive))
        return [group.as_hit(rank) for rank, group in enumerate(groups, start=1)]

    def _distinctive(self, terms: Sequence[str], question_terms: frozenset[str]) -> frozenset[str]:
        """The terms that stop a hit from being folded into one that lacks them."""
        of_question = question_terms.intersection(terms)
        numbers = self._rule.numbers or any(term[0].isdigit() for term in question_terms)
        return of_question | {t for t in terms if t[0].isdigit()} if numbers else of_question


@dataclass(slots=True)
class _Group:
    """A hit with its distinctive terms and the passages that repeat it."""

    hit: Hit
    distinctive: frozenset[str]
    duplicates: list[Passage] = field(default_factory=list)

    def can_hold(self, hit: Hit, distinctive: frozenset[str]) -> bool:
        """True if the hit has no other distinctive term and does not overlap with this one."""
        return distinctive <= self.distinctive and not _overlap(hit.passage, self.hit.passage)

    def as_hit(self, rank: int) -> Hit:
        """The hit at this rank, with its duplicates."""
        if self.hit.rank == rank and not self.duplicates and not self.hit.duplicates:
            return self.hit
        return replace(self.hit, rank=rank, duplicates=tuple(self.duplicates))


def shingles(terms: Sequence[str]) -> frozenset[Shingle]:
    """The set of term 3-grams; fewer than three terms form a single shingle.

    >>> sorted(shingles(["the", "mill", "by", "the"]))
    [('mill', 'by', 'the'), ('the', 'mill', 'by')]
    """
    return frozenset(zip(terms, terms[1:], terms[2:], strict=False)) or frozenset([tuple(terms)])


def _overlap(a: Passage, b: Passage) -> bool:
    return a.document_id == b.document_id and a.start < b.end and b.start < a.end
