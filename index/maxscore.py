"""Lexical search by compiled code, for many questions. See `maxscore_kernels` for the method."""

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, pairwise
from struct import pack
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np

from .live_postings import CorpusStatistics, LivePostings, Term
from .maxscore_kernels import prepare, search
from .protocol import Array, Doubles, Ids, Mask, Places, Ranking, TermLists
from .top_k import best

_BATCH = 256  # questions whose terms are in memory together
_MIN_PER_THREAD = 16  # questions that a thread takes at once
_NO_MASK = np.empty(0, np.bool_)


@cache
def _pool(process: int, n_threads: int) -> ThreadPoolExecutor:
    """Threads that wait for work, because starting them takes as long as a search. A fork gets new ones."""
    return ThreadPoolExecutor(n_threads, "spanwise-bm25")


class Saturation(Protocol):
    """A weighting in which a term of the question adds idf * tf * (k1 + 1) / (tf + norm), per occurrence."""

    @property
    def k1(self) -> float:
        """At least 0."""

    def idf(self, term: str, statistics: CorpusStatistics) -> float:
        """Above 0, for a term that passages hold."""

    def norms(self, lengths: Ids, avgdl: float) -> Doubles:
        """The norms of rows of these lengths, at least 0."""


class _Arguments(NamedTuple):
    """The arguments of `search`, and the objects whose memory it reads."""

    places: Ids
    terms: Ids
    weights: Doubles
    ends: Ids
    owners: Any


class _PreparedTerm(NamedTuple):
    """A term for given statistics: its idf, its row of `places`, and the arrays that this row points to."""

    norms: Doubles
    df: int
    idf: float
    place: bytes
    arrays: tuple[Array, ...]


class MaxScore:
    """Ranks postings by a saturating weighting; several threads share many questions."""

    def __init__(self, postings: LivePostings, saturation: Saturation) -> None:
        self._postings = postings
        self._saturation = saturation
        self._counted = (0, 0.0)  # n_docs and avgdl of the norms
        self._norms: Doubles = np.empty(0)

    def search(
        self,
        questions: TermLists,
        k: int,
        allowed: Mask | None,
        statistics: CorpusStatistics,
        places: Places,
    ) -> list[Ranking]:
        """The best k passages for each list of terms; `allowed` (rows,) masks the rows."""
        if not statistics.total_length:
            return [Ranking.empty() for _ in questions]
        counted = (statistics.n_docs, statistics.avgdl)
        if self._counted != counted:
            self._counted = counted
            self._norms = self._saturation.norms(self._postings.lengths, statistics.avgdl)
        rankings: list[Ranking] = []
        for first in range(0, len(questions), _BATCH):
            arguments = self._arguments(questions[first : first + _BATCH], statistics)
            for results in self._results(arguments, k, _NO_MASK if allowed is None else allowed):
                rankings += self._rankings(results, k, places)
        return rankings

    def _results(self, arguments: _Arguments, k: int, mask: Mask) -> list[Any]:
        """The results of the compiled search; many questions are shared out among threads."""
        n_threads: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        norms = self._norms
        k1 = float(self._saturation.k1)  # an int would be compiled for again
        places, terms, weights, ends, _ = arguments

        def run(first: int, last: int) -> Any:
            return search(places, terms, weights, ends[first : last + 1], norms, k1, k, mask)

        n = len(ends) - 1
        n_parts = max(1, min(n_threads, n // _MIN_PER_THREAD))
        cuts = np.linspace(0, n, n_parts + 1).astype(int).tolist()
        others = _pool(os.getpid(), n_threads).map(run, cuts[1:-1], cuts[2:]) if n_parts > 1 else ()
        return [run(*cuts[:2]), *others]

    def _arguments(self, questions: TermLists, statistics: CorpusStatistics) -> _Arguments:
        df = statistics.df
        distinct = [term for term in dict.fromkeys(chain.from_iterable(questions)) if df.get(term)]
        numbers = {term: number for number, term in enumerate(distinct)}
        terms: list[int] = []
        counts: list[int] = []
        ends = [0]
        for question in questions:
            known = [numbers[term] for term in question if term in numbers]
            counted = Counter(known) if len(set(known)) < len(known) else dict.fromkeys(known, 1)
            terms += counted.keys()
            counts += counted.values()
            ends.append(len(terms))
        owners = [self._postings.term(term) for term in distinct]
        prepared = [
            self._prepared(name, term, statistics) for name, term in zip(distinct, owners, strict=True)
        ]
        idf = np.array([term.idf for term in prepared], np.float64)
        return _Arguments(
            np.frombuffer(b"".join([term.place for term in prepared]), np.int64).reshape(-1, 9),
            np.array(terms, np.int64),
            np.array(counts, np.float64) * idf[terms],
            np.array(ends, np.int64),
            (owners, prepared),
        )

    def _prepared(self, name: str, term: Term, statistics: CorpusStatistics) -> _PreparedTerm:
        df = statistics.df[name]
        prepared: _PreparedTerm | None = term.prepared
        if prepared is None or prepared.norms is not self._norms or prepared.df != df:
            arrays = prepare(term.rows, term.counts, self._norms, float(self._saturation.k1))
            addresses = [array.ctypes.data for array in (term.counts, *arrays)]
            sizes = (len(term.rows), len(arrays[1]))
            place = pack("9q", *addresses[:2], *sizes, *addresses[2:], term.counts.itemsize)
            idf = self._saturation.idf(name, statistics)
            prepared = _PreparedTerm(self._norms, df, idf, place, arrays)
            term.prepared = prepared
        return prepared

    def _rankings(self, results: Any, k: int, places: Places) -> Iterator[Ranking]:
        rows, scores, ends, is_unordered = results
        ids = self._postings.passage_ids[rows]
        for (start, end), unordered in zip(pairwise(ends.tolist()), is_unordered.tolist(), strict=True):
            if unordered:
                yield best(ids[start:end], scores[start:end], k, places)
            else:
                ordered = slice(start, min(end, start + k))
                yield Ranking(ids[ordered], scores[ordered])
