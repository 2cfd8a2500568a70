"""Exact search on the CPU: FAISS looks at every vector.

A few queries are bound by memory traffic, so they scan float16 codes, half the bytes; many are bound by
arithmetic, so blocks of the stored vectors are multiplied with all of them at once, without a copy in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .exact_scores import float32_slack
from .faiss_library import MANY, bitmap, faiss, inner_products, one_thread
from .stored_vectors import StoredVectors


@dataclass(frozen=True, slots=True)
class Nearest:
    """For each query the n rows with the highest approximate scores, best first.

    `scores` (Q, n) float32 and `rows` (Q, n) int64; the difference of two scores is at most `slack` away from
    that of the exact ones.
    """

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]
    slack: float


class FaissScan:
    """Half of the bytes of the vectors is held in memory, from the first search for a few queries on."""

    def __init__(self, stored: StoredVectors) -> None:
        self._stored = stored

    def nearest(
        self, queries: NDArray[np.float32], n: int, chosen: NDArray[np.bool_] | None = None
    ) -> Nearest:
        """The nearest n rows for each query; `n` rows at least must be chosen."""
        if len(queries) >= MANY:
            return self._by_products(queries, n, chosen)
        params = faiss().SearchParameters(sel=bitmap(chosen)) if chosen is not None else None
        with one_thread():
            scores, rows = self._halves.search(np.ascontiguousarray(queries), n, params=params)
        return Nearest(scores, rows, float32_slack(queries.shape[1]) + _float16_slack(queries.shape[1]))

    @cached_property
    def _halves(self) -> Any:
        """The vectors as float16 codes in a FAISS index."""
        library = faiss()
        codes = library.ScalarQuantizer.QT_fp16
        index = library.IndexScalarQuantizer(self._stored.width, codes, library.METRIC_INNER_PRODUCT)
        for block in self._stored.blocks():
            index.add(block)
        return index

    def _by_products(self, queries: NDArray[np.float32], n: int, chosen: NDArray[np.bool_] | None) -> Nearest:
        numbers = np.arange(len(self._stored)) if chosen is None else np.flatnonzero(chosen)
        found, first = None, 0
        for block in self._stored.blocks(chosen):
            scores, rows = inner_products(queries, block, min(n, len(block)))
            part = Nearest(scores, numbers[first + rows], float32_slack(queries.shape[1]))
            found, first = merge(found, part, n), first + len(block)
        if found is None:
            raise ValueError("no vector is chosen")
        return found


def _float16_slack(width: int) -> float:
    """What rounding the stored vectors to float16 adds to `float32_slack`.

    A number x becomes x * (1 + e) + f with |e| <= 2^-11 and |f| <= 2^-25, so the product of two vectors of
    length 1 ± 0.001 is off by at most 1.0021 * 2^-11 + 1.001 * sqrt(width) * 2^-25, and the difference of two
    by twice that.
    """
    return float(2 * (1.0021 * 2.0**-11 + 1.001 * width**0.5 * 2.0**-25))


def merge(kept: Nearest | None, found: Nearest, n: int) -> Nearest:
    """The best n of two proposals for the same queries."""
    if kept is None:
        return found
    scores = np.concatenate([kept.scores, found.scores], axis=1)
    rows = np.concatenate([kept.rows, found.rows], axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    best_scores, best_rows = (
        np.take_along_axis(scores, order, axis=1),
        np.take_along_axis(rows, order, axis=1),
    )
    return Nearest(best_scores, best_rows, max(kept.slack, found.slack))
