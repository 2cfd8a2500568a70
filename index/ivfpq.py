"""Compact codes of vectors: the list of the nearest centroid, and the rest as 4-bit numbers.

    x  ~  centroids[list] + (codebooks[0][code_0], codebooks[1][code_1], ...)

Each code stands for 2 of the numbers by one of 16 entries: half a byte for 8 bytes. A code for 4 numbers
would take half the memory, but ten times as many candidates, which lie anywhere on the disk. A search looks
into the lists whose centroids have the highest inner product with the query, and adds up tables of 16
products each, 32 vectors at a time (FAISS's fast scan).

Source: Jégou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search", 2011; André, Kermarrec
and Le Scouarnec, "Cache locality is not enough", VLDB 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .faiss_library import faiss, inner_products, matrix_products

GROUP = 2  # numbers of a vector that share a code
ENTRIES = 16  # what a code of 4 bits tells apart
_ROUNDS = 8  # of k-means
SAMPLE = 40  # vectors that each centroid is trained on


@dataclass(frozen=True, slots=True)
class Quantizer:
    """`centroids` (lists, width) and `codebooks` (width / GROUP * ENTRIES, GROUP), both float32."""

    centroids: NDArray[np.float32]
    codebooks: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.centroids.shape[1])

    @classmethod
    def train(cls, sample: NDArray[np.float32], n_lists: int) -> Quantizer:
        """The quantizer of a collection that `sample` (n, width) was drawn from; n at least `n_lists`."""
        width = sample.shape[1]
        means = faiss().Kmeans(
            width, n_lists, niter=_ROUNDS, spherical=True, seed=1, min_points_per_centroid=1
        )
        with matrix_products():
            means.train(sample)
        centroids = np.asarray(means.centroids, np.float32).reshape(n_lists, width).copy()
        product = faiss().ProductQuantizer(width, width // GROUP, 4)
        product.cp.min_points_per_centroid = 1  # a small sample is no reason to warn
        product.train(sample - centroids[nearest_lists(centroids, sample)])
        return cls(centroids, faiss().vector_to_array(product.centroids).reshape(-1, GROUP).copy())

    def encode(self, vectors: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """The list of each vector, and its codes (n, width / 4), two to a byte."""
        lists = nearest_lists(self.centroids, vectors)
        codes: NDArray[np.uint8] = self._product().compute_codes(vectors - self.centroids[lists])
        return lists, codes

    def index(self, ends: NDArray[np.int64], codes: NDArray[np.uint8], ids: NDArray[np.int64]) -> Any:
        """A FAISS index of codes that are ordered by list; `ends` says where each list ends, `ids` what a
        search returns for each code.

        It is made from these arrays alone, so that no file is ever parsed by native code.
        """
        coarse = faiss().IndexFlatIP(self.width)
        coarse.add(self.centroids)
        plain = faiss().IndexIVFPQ(
            coarse, self.width, len(ends), self.width // GROUP, 4, faiss().METRIC_INNER_PRODUCT
        )
        faiss().copy_array_to_vector(self.codebooks.ravel(), plain.pq.centroids)
        plain.by_residual, plain.is_trained = True, True
        first = 0
        for number, end in enumerate(ends.tolist()):
            if end > first:
                pointers = faiss().swig_ptr(ids[first:end]), faiss().swig_ptr(codes[first:end])
                plain.invlists.add_entries(number, end - first, *pointers)
            first = end
        plain.ntotal = len(codes)
        packed = faiss().IndexIVFPQFastScan(plain)
        packed.referenced_objects = [coarse]  # which it points to; the plain codes can go
        return packed

    def _product(self) -> Any:
        product = faiss().ProductQuantizer(self.width, self.width // GROUP, 4)
        faiss().copy_array_to_vector(self.codebooks.ravel(), product.centroids)
        return product


def nearest_lists(centroids: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """The number of the centroid with the highest inner product with each vector."""
    return inner_products(vectors, centroids, 1)[1][:, 0]


def list_count(n_vectors: int) -> int:
    """How many lists a collection is divided into: the power of two from 2 times the square root upward.

    >>> list_count(200_000), list_count(1_000_000)
    (1024, 2048)
    """
    return 1 << (int(2 * n_vectors**0.5) - 1).bit_length()
