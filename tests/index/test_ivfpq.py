from __future__ import annotations

import numpy as np
import pytest
from made_vectors import collection

from spanwise.index.ivfpq import ENTRIES, GROUP, Quantizer, list_count, nearest_lists

VECTORS = collection(2000)


@pytest.fixture(scope="module")
def quantizer():
    return Quantizer.train(VECTORS, 16)


def decoded(quantizer, lists, codes):
    """The vectors that codes stand for, by the formula of the module."""
    numbers = np.stack([codes & 15, codes >> 4], axis=2).reshape(len(codes), -1)  # (n, groups)
    books = quantizer.codebooks.reshape(-1, ENTRIES, GROUP)
    rest = np.stack([books[g, numbers[:, g]] for g in range(numbers.shape[1])], axis=1)
    return quantizer.centroids[lists] + rest.reshape(len(codes), -1)


def test_codes_stand_for_nearby_vectors(quantizer) -> None:
    lists, codes = quantizer.encode(VECTORS)
    assert codes.shape == (2000, 32 // 4)
    lost = np.linalg.norm(decoded(quantizer, lists, codes) - VECTORS, axis=1)
    centred = np.linalg.norm(quantizer.centroids[lists] - VECTORS, axis=1)
    assert (lost**2).mean() < 0.5 * (centred**2).mean()


def test_a_vector_is_in_the_list_of_its_nearest_centroid(quantizer) -> None:
    products = VECTORS @ quantizer.centroids.T
    lists = nearest_lists(quantizer.centroids, VECTORS)
    chosen = np.take_along_axis(products, lists[:, np.newaxis], axis=1)[:, 0]
    assert chosen == pytest.approx(products.max(axis=1), abs=1e-6)


def test_the_index_scores_what_the_codes_stand_for(quantizer) -> None:
    lists, codes = quantizer.encode(VECTORS)
    order = np.argsort(lists, kind="stable")
    ends = np.cumsum(np.bincount(lists, minlength=16))
    index = quantizer.index(ends, codes[order], order)
    index.nprobe = 16
    scores, rows = index.search(VECTORS[:5], 50)
    expected = np.einsum("qnw,qw->qn", decoded(quantizer, lists, codes)[rows], VECTORS[:5])
    assert np.abs(scores - expected).max() < 0.02  # tables of 8 bits


def test_the_same_sample_trains_the_same_quantizer(quantizer) -> None:
    again = Quantizer.train(VECTORS, 16)
    assert np.array_equal(again.centroids, quantizer.centroids)
    assert np.array_equal(again.codebooks, quantizer.codebooks)


@pytest.mark.parametrize(("n", "lists"), [(1, 2), (16, 8), (10_000, 256), (10_000_000, 8192)])
def test_lists_grow_with_the_square_root(n, lists) -> None:
    assert list_count(n) == lists
