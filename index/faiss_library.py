"""FAISS as the index calls it: loaded when it is needed, with its settings changed for one call only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

MANY = 16  # queries that are worth a matrix product


def faiss() -> Any:
    """The library; what it declares of its types leaves out what it adds for Python."""
    return import_module("faiss")


def inner_products(
    queries: NDArray[np.float32], vectors: NDArray[np.float32], n: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The n highest inner products of each query with the vectors, (Q, n), and the rows of these."""
    with matrix_products():
        scores, rows = faiss().knn(queries, vectors, n, metric=faiss().METRIC_INNER_PRODUCT)
    return scores, rows


def bitmap(chosen: NDArray[np.bool_]) -> Any:
    """What tells FAISS which rows may be found."""
    return faiss().IDSelectorBitmap(np.packbits(chosen, bitorder="little"))


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, FAISS computes on one thread: for a few milliseconds of work others cost more than they do."""
    before = faiss().omp_get_max_threads()
    faiss().omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss().omp_set_num_threads(before)


@contextmanager
def matrix_products() -> Iterator[None]:
    """Inside, FAISS compares many vectors by matrix products, which its default leaves to the very many."""
    before = faiss().cvar.distance_compute_blas_threshold
    faiss().cvar.distance_compute_blas_threshold = MANY
    try:
        yield
    finally:
        faiss().cvar.distance_compute_blas_threshold = before
