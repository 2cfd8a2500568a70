"""Dense search: exact inner product over the live vectors of one model, and the checks of vectors.

A FAISS scan proposes candidates and bounds the error of its scores. It proposes so many that the best k are
certainly among them; exact scores then rank the candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from .passage_rows import StoredRows
from .protocol import Floats, Ids, Mask, Places, Ranking
from .top_k import best, check_among, check_k, check_vectors

MANY_QUERIES = 16  # from this number on, queries are searched by a matrix product
_SPARE_CANDIDATES = 16  # candidates beyond k in the first round
_MAX_COMPARED_DIRECTLY = 1024  # vectors that a few queries are compared with exactly, without a scan


class VectorIndex:
    """Ranks live passages for unit vectors; scores are cosines and may be negative."""

    def __init__(self, stored: StoredRows, places: Places) -> None:
        self._stored = stored
        self._places = places
        self._scan = FaissScan(stored)

    def __len__(self) -> int:
        """The number of live passages with a vector."""
        return len(self._stored)

    @property
    def width(self) -> int:
        """The dimension of the vectors."""
        return width_of(self._stored)

    def search(self, queries: Floats, k: int, among: Ids | None = None) -> list[Ranking]:
        """The best k passages by inner product for each row of `queries` (n, width), unit float32.

        `among` restricts the search to these passage ids; those without a vector are ignored.
        """
        check_k(k)
        check_vectors(queries, self.width, len(queries), "question {}".format)
        chosen = None if among is None else chosen_rows(self._stored, among)
        pairs = zip(self._proposed(queries, k, chosen), queries, strict=True)
        return [best_of(self._stored, rows, query, k, self._places) for rows, query in pairs]

    def _proposed(self, queries: Floats, k: int, chosen: Mask | None) -> list[Ids]:
        """For each query, rows that include its best k of those `chosen`."""
        n_rows = len(self) if chosen is None else int(chosen.sum())
        if not n_rows or (len(queries) < MANY_QUERIES and n_rows <= _MAX_COMPARED_DIRECTLY):
            rows = np.arange(len(self)) if chosen is None else np.flatnonzero(chosen)
            return [rows] * len(queries)
        candidates = self._scan.nearest(queries, min(k + _SPARE_CANDIDATES, n_rows), chosen)
        return [self._widened(candidates, row, query, k, chosen, n_rows) for row, query in enumerate(queries)]

    def _widened(
        self, candidates: Candidates, row: int, query: Floats, k: int, chosen: Mask | None, n_rows: int
    ) -> Ids:
        """Candidates of one query, so many that no other row can belong to the best k."""
        rows: Ids = candidates.rows[row]
        scores = candidates.scores[row]
        while len(rows) < n_rows and scores[-1] > scores[k - 1] - candidates.slack:
            candidates = self._scan.nearest(query[np.newaxis], min(2 * len(rows), n_rows), chosen)
            rows = candidates.rows[0]
            scores = candidates.scores[0]
        return rows


@dataclass(frozen=True, slots=True)
class Candidates:
    """The n rows with the highest approximate scores for each query, best first.

    scores: (Q, n) float32
    rows: (Q, n) int64
    slack: a bound of the error of the difference of two scores
    """

    scores: Floats
    rows: Ids
    slack: float


class FaissScan:
    """Compares queries with every stored vector.

    Memory traffic limits a few queries, so they scan float16 codes, which are half as large and stay in
    memory. Arithmetic limits many queries, so each block of stored vectors is multiplied with all of them at
    once.
    """

    def __init__(self, stored: StoredRows) -> None:
        self._stored = stored

    def nearest(self, queries: Floats, n: int, chosen: Mask | None = None) -> Candidates:
        """The nearest n rows for each unit vector of `queries` (Q, width); at least n rows must be chosen."""
        width = queries.shape[1]
        if len(queries) >= MANY_QUERIES:
            return self._by_products(queries, n, chosen)
        params = faiss().SearchParameters(sel=bitmap(chosen)) if chosen is not None else None
        with one_thread():
            scores, rows = self._halves.search(np.ascontiguousarray(queries), n, params=params)
        return Candidates(scores, rows, _float32_slack(width) + _float16_slack(width))

    @cached_property
    def _halves(self) -> Any:
        """The vectors as float16 codes in a FAISS index."""
        library = faiss()
        codes = library.ScalarQuantizer.QT_fp16
        index = library.IndexScalarQuantizer(width_of(self._stored), codes, library.METRIC_INNER_PRODUCT)
        for block in self._stored.blocks("vectors"):
            index.add(block)
        return index

    def _by_products(self, queries: Floats, n: int, chosen: Mask | None) -> Candidates:
        numbers = np.arange(len(self._stored)) if chosen is None else np.flatnonzero(chosen)
        scores = np.empty((len(queries), 0), np.float32)
        rows = np.empty((len(queries), 0), np.int64)
        first = 0
        for block in self._stored.blocks("vectors", numbers):
            block_scores, block_rows = inner_products(queries, block, min(n, len(block)))
            scores = np.concatenate([scores, block_scores], axis=1)
            rows = np.concatenate([rows, numbers[first + block_rows]], axis=1)
            order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
            scores = np.take_along_axis(scores, order, 1)
            rows = np.take_along_axis(rows, order, 1)
            first += len(block)
        return Candidates(scores, rows, _float32_slack(queries.shape[1]))


def best_of(stored: StoredRows, rows: Ids, query: Floats, k: int, places: Places) -> Ranking:
    """The best k of these distinct rows for one query (width,).

    Scores are products and sums in float64 along one row. So a pair of vectors has bit-identical scores,
    whatever proposed it.
    """
    vectors = stored.read(rows)["vectors"]
    if len(rows) > k:
        rough = vectors @ query
        threshold = np.partition(rough, len(rough) - k)[len(rough) - k] - _float32_slack(len(query))
        is_near = rough >= threshold
        rows = rows[is_near]
        vectors = vectors[is_near]
    exact = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return best(stored.passage_ids[rows], exact, k, places)


def chosen_rows(stored: StoredRows, among: Ids) -> Mask:
    """(n,) True for the rows of these passages."""
    check_among(among)
    rows = stored.rows_of(among)
    chosen = np.zeros(len(stored), np.bool_)
    chosen[rows[rows >= 0]] = True
    return chosen


def width_of(stored: StoredRows) -> int:
    """The dimension of the stored vectors."""
    return int(stored.parts[0].data["vectors"].shape[1])


def _float32_slack(width: int) -> float:
    """A bound of the error of the difference of two float32 scores of unit vectors.

    The error of each sum of `width` products is at most width * eps / 2; twice that is allowed.
    """
    return 2 * width * float(np.finfo(np.float32).eps)


def _float16_slack(width: int) -> float:
    """The addition to `_float32_slack` for stored vectors that are rounded to float16.

    A number x becomes x * (1 + e) + f with |e| <= 2^-11 and |f| <= 2^-25. So the error of the product of two
    vectors of length 1 ± 0.001 is at most 1.0021 * 2^-11 + 1.001 * sqrt(width) * 2^-25. The error of the
    difference of two products is at most twice that.
    """
    return float(2 * (1.0021 * 2.0**-11 + 1.001 * width**0.5 * 2.0**-25))


def faiss() -> Any:
    """The library, loaded on first use; its type stubs lack its Python additions."""
    return import_module("faiss")


def inner_products(queries: Floats, vectors: Floats, n: int) -> tuple[Floats, Ids]:
    """The n highest inner products of each query with the vectors, (Q, n), and the rows of these."""
    before = faiss().cvar.distance_compute_blas_threshold
    faiss().cvar.distance_compute_blas_threshold = MANY_QUERIES  # FAISS multiplies from more queries on
    try:
        scores, rows = faiss().knn(queries, vectors, n, metric=faiss().METRIC_INNER_PRODUCT)
    finally:
        faiss().cvar.distance_compute_blas_threshold = before
    return scores, rows


def bitmap(chosen: Mask) -> Any:
    """The FAISS selector of the rows that may be found."""
    return faiss().IDSelectorBitmap(np.packbits(chosen, bitorder="little"))


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside the context FAISS uses one thread; more do not pay off for a few milliseconds of work."""
    before = faiss().omp_get_max_threads()
    faiss().omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss().omp_set_num_threads(before)
