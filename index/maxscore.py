"""Lexical search by compiled code, which pays off for many questions. See `impacts` for the method."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain
from struct import pack
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np

from .live_postings import CorpusStatistics, LivePostings, Term
from .maxscore_kernels import prepare, search
from .protocol import Array, Doubles, Ids, Mask, Places, Ranking, TermLists
from .top_k import best

_BATCH = 256  # questions whose terms are in memory together
_PART = 16  # questions that a thread takes at once, at least
_NO_MASK = np.empty(0, np.bool_)


@cache
def _pool(process: int, n_threads: int) -> ThreadPoolExecutor:
    """Threads that wait for work: to start them takes as long as to search. A fork begins without any."""
    return ThreadPoolExecutor(n_threads, "spanwise-bm25")


class Saturation(Protocol):
    """A weighting: each occurrence of a term in the question adds idf * tf * (k1 + 1) / (tf + norm)."""

    @property
    def k1(self) -> float:
        """At least 0."""

    def idf(self, df: int, n_docs: int) -> float:
        """Above 0, for a term in `df` of `n_docs` passages, at least 1."""

    def norms(self, lengths: Ids, avgdl: float) -> Doubles:
        """The norm of rows of these lengths, at least 0."""


class _Arguments(NamedTuple):
    """Of `search`, and the terms whose memory it reads."""

    places: Ids
    terms: Ids
    weights: Doubles
    ends: Ids
    held: Any


class _Prepared(NamedTuple):
    """A term for statistics: its idf, its row of `places`, and the arrays that this points to."""

    norms: Doubles
    df: int
    idf: float
    place: bytes
    arrays: tuple[Array, ...]


class MaxScore:
    """Ranks postings by a weighting that saturates; several threads search many questions at once."""

    def __init__(self, postings: LivePostings, saturation: Saturation) -> None:
        self._postings = postings
        self._saturation = saturation
        self._counted = 0, 0.0  # n_docs and avgdl that the norms are made for
        self._norms: Doubles = np.empty(0)

    def search(
        self,
        questions: TermLists,
        k: int,
        allowed: Mask | None,
        statistics: CorpusStatistics,
        places: Places,
    ) -> list[Ranking]:
        """For each list of terms its best k passages; `allowed` (rows,) says which may be found."""
        if not statistics.total_length:
            return [Ranking.empty() for _ in questions]
        if self._counted != (statistics.n_docs, statistics.avgdl):
            self._counted = statistics.n_docs, statistics.avgdl
            self._norms = self._saturation.norms(self._postings.lengths, statistics.avgdl)
        found: list[Ranking] = []
        for first in range(0, len(questions), _BATCH):
            asked = self._arguments(questions[first : first + _BATCH], statistics)
            for rows in self._found(asked, k, _NO_MASK if allowed is None else allowed):
                found += self._rankings(rows, k, places)
        return found

    def _found(self, asked: _Arguments, k: int, mask: Mask) -> list[Any]:
        """What `impacts.search` finds, in this thread and for many questions in others."""
        n_threads: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        ends, norms, k1 = asked.ends, self._norms, self._saturation.k1

        def run(first: int, last: int) -> Any:
            own = ends[first : last + 1]
            return search(asked.places, asked.terms, asked.weights, own, norms, k1, k, mask)

        n = len(ends) - 1
        n_parts = max(1, min(n_threads, n // _PART))
        cuts = np.linspace(0, n, n_parts + 1).astype(int).tolist()
        others = _pool(os.getpid(), n_threads).map(run, cuts[1:-1], cuts[2:]) if n_parts > 1 else ()
        return [run(*cuts[:2]), *others]

    def _arguments(self, questions: TermLists, statistics: CorpusStatistics) -> _Arguments:
        df = statistics.df
        distinct = [term for term in dict.fromkeys(chain.from_iterable(questions)) if df.get(term)]
        numbers = {term: number for number, term in enumerate(distinct)}
        terms, times, ends = list[int](), list[int](), [0]
        for question in questions:
            own = [numbers[term] for term in question if term in numbers]
            counted = Counter(own) if len(set(own)) < len(own) else dict.fromkeys(own, 1)
            terms += counted.keys()
            times += counted.values()
            ends.append(len(terms))
        held = [self._postings.term(term) for term in distinct]
        prepared = [
            self._prepared(term, df[name], statistics) for name, term in zip(distinct, held, strict=True)
        ]
        idf = np.array([one.idf for one in prepared], np.float64)
        return _Arguments(
            np.frombuffer(b"".join([one.place for one in prepared]), np.int64).reshape(-1, 9),
            np.array(terms, np.int64),
            np.array(times, np.float64) * idf[terms],
            np.array(ends, np.int64),
            (held, prepared),
        )

    def _prepared(self, term: Term, df: int, statistics: CorpusStatistics) -> _Prepared:
        known: _Prepared | None = term.prepared
        if known is None or known.norms is not self._norms or known.df != df:
            made = prepare(term.rows, term.counts, self._norms, self._saturation.k1)
            addresses = [array.ctypes.data for array in (term.counts, *made)]
            counted = len(term.rows), len(made[1])
            place = pack("9q", *addresses[:2], *counted, *addresses[2:], term.counts.itemsize)
            idf = self._saturation.idf(df, statistics.n_docs)
            known = term.prepared = _Prepared(self._norms, df, idf, place, made)
        return known

    def _rankings(self, found: Any, k: int, places: Places) -> Iterator[Ranking]:
        rows, scores, ends, is_unordered = found
        ends = ends.tolist()
        ids = self._postings.passage_ids[rows]
        for start, end, unordered in zip(ends, ends[1:], is_unordered.tolist(), strict=False):
            if unordered:
                yield best(ids[start:end], scores[start:end], k, places)
            else:
                yield Ranking(ids[start : min(end, start + k)], scores[start : min(end, start + k)])
