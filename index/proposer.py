"""Compact codes in memory: which rows of the stored vectors are worth an exact score."""

from __future__ import annotations

from contextlib import nullcontext
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codes import Codes
from .faiss_library import MANY, bitmap, faiss, one_thread
from .stored_vectors import StoredVectors


class Proposer:
    """A FAISS index of codes that returns rows of the stored vectors."""

    def __init__(self, faiss_index: Any) -> None:
        self._faiss = faiss_index

    @classmethod
    def load(cls, codes: Codes, rows: NDArray[np.int64]) -> Proposer:
        """Of these codes those with a row of 0 or more, as `coded_rows` gives them."""
        kept = rows >= 0
        if kept.all():
            return cls(codes.quantizer.index(codes.ends, codes.codes, rows))
        ends = np.concatenate([[0], np.cumsum(kept)])[codes.ends]
        return cls(codes.quantizer.index(ends, codes.codes[kept], rows[kept]))

    def rows(
        self,
        queries: NDArray[np.float32],
        n_lists: int,
        n: int,
        chosen: NDArray[np.bool_] | None = None,
    ) -> list[NDArray[np.int64]]:
        """For each query (Q, width) at most n rows, likeliest first, from its nearest `n_lists` lists.

        `chosen` are the rows that may be found. They are a share of each list, so that as many more lists are
        looked into.
        """
        if not self._faiss.ntotal:
            return [np.empty(0, np.int64)] * len(queries)
        params = faiss().SearchParametersIVF(nprobe=n_lists)
        if chosen is not None:
            wider = min(self._faiss.nlist, ceil(n_lists * len(chosen) / max(1, int(chosen.sum()))))
            params = faiss().SearchParametersIVF(nprobe=wider, sel=bitmap(chosen))
        with one_thread() if len(queries) < MANY else nullcontext():
            _, found = self._faiss.search(np.ascontiguousarray(queries), n, params=params)
        return [rows[rows >= 0] for rows in found]


def coded_rows(stored: StoredVectors, codes: Codes) -> NDArray[np.int64]:
    """The row of each code; -1 where the passage is gone, or has another vector than the one encoded."""
    rows = stored.rows_of(codes.passage_ids)
    there = rows >= 0
    rows[there] = np.where(stored.sums[rows[there]] == codes.sums[there], rows[there], -1)
    return rows
