"""The postings of all segments as one, with their statistics.

Rows of deleted passages keep their place, hold no term and are not counted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .analysis import NAME
from .postings import Pairs, PostingsSegment
from .protocol import Bytes, Counts, Doubles, Ids, Uints

_N = TypeVar("_N", bound=np.generic)
_MAX_HELD = 2**29  # bytes of terms in memory
_MAX_WEIGHTED = 2**21  # pairs with weights in memory, about 40 MB
_TERM_COST = 32  # memory of a weighted term besides its pairs, as a number of pairs
_TERM_BYTES = 1024  # bytes of a term besides its pairs
MAX_LIKELY_TERMS = 32  # terms that are compared with a misspelled word
_ENDING_COST = 0.25  # edits that a letter costs if it may belong to an ending


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """Counts over live passages.

    n_docs: the number of passages
    total_length: the number of terms in all of them
    df: the number of passages that hold each term

    >>> CorpusStatistics(5, 15, {"mill": 3}).avgdl
    3.0
    """

    n_docs: int
    total_length: int
    df: Mapping[str, int]

    @property
    def avgdl(self) -> float:
        """The mean length of a passage in terms; 0 for an empty corpus."""
        return self.total_length / self.n_docs if self.n_docs else 0.0


class StatisticsSource(Protocol):
    """Counts a collection, of which an index may search a part."""

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        """The statistics of the collection, with the document frequencies of these terms."""

    @property
    def all_statistics(self) -> CorpusStatistics:
        """The statistics of the collection, with the document frequencies of all its terms."""


class TermWeighting(Protocol):
    """The weight of a term in each passage that holds it. Equal weightings, by ==, give equal weights."""

    def __call__(self, tf: Doubles, lengths: Ids) -> Doubles:
        """One weight per passage, from the count of the term in it and its number of terms."""


@dataclass(slots=True)
class Term:
    """The live rows that hold a term.

    rows: (n,) uint32, ascending, read-only
    counts: (n,) of the term in each row, read-only
    prepared: the results of MaxScore for its last statistics
    """

    rows: Uints
    counts: Counts
    prepared: Any = None

    @property
    def size(self) -> int:
        """An estimate of the bytes it takes."""
        return _TERM_BYTES + 12 * len(self.rows)


class LivePostings:
    """The postings of all segments. A row is a place in `passage_ids`, which follows the segments.

    Terms stay in memory, so only the first question with a term reads its rows and computes their weights.
    The rows of `NAME` and a term are the passages `named(term)`, each with the count 1. They are no part of
    lengths, `pairs` and `all_statistics`.
    """

    def __init__(
        self, segments: Sequence[PostingsSegment], deleted: Ids, named: Callable[[str], Ids] | None = None
    ) -> None:
        self._segments = tuple(segments)
        self._named = named
        sizes = [len(segment.passage_ids) for segment in segments]
        self._first_rows = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64).tolist()
        self.passage_ids: Ids = _joined([part.passage_ids for part in segments])
        self.lengths: Ids = _joined([part.lengths for part in segments])
        self.live = np.isin(self.passage_ids, deleted, invert=True)
        self._n_docs = int(self.live.sum())
        self._total_length = int(self.lengths[self.live].sum())
        self._terms: dict[str, Term] = {}
        self._n_held = 0
        self._weighted: dict[tuple[str, type[TermWeighting]], tuple[TermWeighting, Ids, Doubles]] = {}
        self._n_weighted = 0

    def __len__(self) -> int:
        """The number of rows, deleted ones included."""
        return len(self.passage_ids)

    def weighted(self, term: str, formula: TermWeighting) -> tuple[Ids, Doubles]:
        """The live rows that hold a term, ascending, and their weights by a formula; both read-only.

        The weights by the last formula of each class stay in memory.
        """
        key = (term, type(formula))
        known = self._weighted.get(key)
        if known is None or known[0] != formula:
            pairs = self.term(term)
            rows = pairs.rows.astype(np.int64)
            weights = formula(pairs.counts.astype(np.float64), self.lengths[rows])
            self._n_weighted += len(rows) + _TERM_COST
            if self._n_weighted > _MAX_WEIGHTED:
                self._weighted.clear()
                self._n_weighted = len(rows) + _TERM_COST
            known = formula, _read_only(rows), _read_only(weights)
            self._weighted[key] = known
        return known[1:]

    def statistics(self, terms: Iterable[str]) -> CorpusStatistics:
        """The live corpus, with the document frequencies of these terms."""
        known = self._terms.get
        df = {term: len((known(term) or self.term(term)).rows) for term in terms}
        return CorpusStatistics(self._n_docs, self._total_length, df)

    def spelled_like(self, typed: str, most: int) -> list[str]:
        """The terms of live passages that a misspelled word may mean, likely ones first.

        A term is the stem of a word at most `most` edits from the typed one. It is compared with each prefix
        of the typed word; the letters after the prefix cost a little.
        """
        return [term for _, term in self.likely_terms(typed, most) if len(self.term(term).rows)]

    def likely_terms(self, typed: str, most: int) -> list[tuple[float, str]]:
        """The cheapest terms for `spelled_like` with their costs, ordered by both; some may be deleted."""
        terms = sorted(term for term in self._vocabulary if 2 <= len(term) <= len(typed) + most)
        words = [f"{term[:-1]}y" if term[-1] == "i" else term for term in terms]  # undo stemming
        endings = _ENDING_COST * np.arange(len(typed), -1, -1)
        costs = np.min(prefix_distances(typed, words) + endings, axis=1)
        cheapest = np.argsort(costs, kind="stable")[:MAX_LIKELY_TERMS]
        return [(float(costs[place]), terms[place]) for place in cheapest]

    def has_term(self, pattern: str) -> bool:
        """True if a regular expression matches in a term of a live passage."""
        matching = filter(re.compile(pattern).search, self._vocabulary)
        return any(len(self.term(term).rows) for term in matching)

    @cached_property
    def _vocabulary(self) -> set[str]:
        """All terms, also those of deleted passages."""
        return {term.decode("utf-8") for segment in self._segments for term in segment.terms()}

    def first_passages(self, term: str, n: int) -> list[int]:
        """The ids of the first n live passages that hold a term."""
        ids: list[int] = self.passage_ids[self.term(term).rows[:n]].tolist()
        return ids

    def passages_with(self, terms: Sequence[str]) -> Ids:
        """The passages that hold the first term, where each later term is in one of the next passages.

        The number of a term is how many passages it may be away: neighbours in a text have neighbouring ids.
        """
        ids: Ids = self.passage_ids if terms else self.passage_ids[:0]
        for distance, term in enumerate(terms):
            holding = np.append(np.sort(self.passage_ids[self.term(term).rows]), np.iinfo(np.int64).max)
            ids = ids[holding[np.searchsorted(holding, ids)] - ids <= distance]
        return ids

    @cached_property
    def all_statistics(self) -> CorpusStatistics:
        """The live corpus with the document frequencies of all its terms; read once."""
        total: Counter[str] = Counter()
        for pairs in self.pairs():
            df = np.bincount(pairs.terms, minlength=len(pairs.vocabulary)).tolist()
            terms = (term.decode("utf-8") for term in pairs.vocabulary)
            total.update({term: n for term, n in zip(terms, df, strict=True) if n})
        return CorpusStatistics(self._n_docs, self._total_length, total)

    def pairs(self) -> Iterator[Pairs]:
        """All pairs of term and live row, one block per segment, each in the order of its terms' bytes."""
        for first, segment in zip(self._first_rows, self._segments, strict=False):
            pairs = segment.pairs()
            rows = pairs.rows + first
            live = self.live[rows]
            yield Pairs(pairs.vocabulary, pairs.terms[live], rows[live], pairs.counts[live])

    def term(self, term: str) -> Term:
        """The pairs of a term, read on first use."""
        pairs = self._terms.get(term)
        if pairs is None:
            rows, counts = self._read(term)
            pairs = Term(_read_only(rows), _read_only(counts))
            if self._n_held + pairs.size > _MAX_HELD:
                self._terms.clear()
                self._n_held = 0
            self._terms[term] = pairs
            self._n_held += pairs.size
        return pairs

    def _read(self, term: str) -> tuple[Uints, Counts]:
        if self._named and term.startswith(NAME):
            named = np.flatnonzero(np.isin(self.passage_ids, self._named(term[1:]))).astype(np.uint32)
            return named, np.ones(len(named), np.uint16)
        all_rows = [np.empty(0, np.uint32)]
        all_counts: list[Counts] = [np.empty(0, np.uint16)]
        for first, segment in zip(self._first_rows, self._segments, strict=False):
            segment_rows, segment_counts = segment.find(term)
            all_rows.append(segment_rows + np.uint32(first))
            all_counts.append(segment_counts)
        rows = np.concatenate(all_rows)
        counts = np.concatenate(all_counts)
        if self._n_docs == len(self):
            return rows, counts
        live = self.live[rows]
        return rows[live], counts[live]


def _joined(parts: Sequence[Counts]) -> Ids:
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)


def _read_only(array: NDArray[_N]) -> NDArray[_N]:
    array.flags.writeable = False
    return array


def prefix_distances(typed: str, words: Sequence[str]) -> Bytes:
    """(n, len(typed) + 1): the edits between each word and the first i characters of the typed one.

    An edit inserts, drops or changes a character, or swaps two neighbours, which are not edited again: "ca"
    is three edits from "abc".

    Source: Damerau, "A technique for computer detection and correction of spelling errors", 1964; Wagner and
    Fischer, "The string-to-string correction problem", 1974, for the table, here of all words at once.

    >>> prefix_distances("mlil", ["mill", "mil"])[:, -1].tolist()
    [1, 1]
    """
    padded = np.array(words, dtype=np.str_)  # (n,), with zeros
    length = padded.dtype.itemsize // 4
    codes = padded.view(np.uint32).reshape(len(words), length).T  # (length, n)
    lengths = (codes != 0).sum(axis=0)
    row = np.repeat(np.arange(len(typed) + 1, dtype=np.uint8)[:, None], len(words), axis=1)
    distances = row.copy()
    above = row
    for j in range(length):
        two_above = above
        above = row
        row = np.full_like(row, j + 1)
        for i, character in enumerate(map(ord, typed)):
            changed = above[i] + (codes[j] != character)
            row[i + 1] = np.minimum(np.minimum(row[i], above[i + 1]) + 1, changed)
            if i and j:
                swapped = (codes[j] == ord(typed[i - 1])) & (codes[j - 1] == character)
                row[i + 1] = np.where(swapped, np.minimum(row[i + 1], two_above[i - 1] + 1), row[i + 1])
        distances[:, lengths == j + 1] = row[:, lengths == j + 1]
    return distances.T
