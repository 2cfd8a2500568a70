"""The codebook: deterministic, within bounds, extensible without touching what is written."""

import numpy as np
import pytest
from helpers.passage_rows import random_unit as unit
from hypothesis import given, settings, strategies as st

from spanwise.index.maxsim.codebook import Codebook

WIDTHS = (8, 32, 64, 96, 128, 256)


@pytest.mark.parametrize("width", WIDTHS)
def test_decoded_vectors_are_near_the_encoded_ones(width: int) -> None:
    vectors = unit(300, width)
    codebook = Codebook.train(vectors, 300)
    errors = ((codebook.decode(codebook.encode(vectors)) - vectors) ** 2).sum(1)
    assert errors.mean() < 0.02


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 9))
def test_an_extended_codebook_decodes_old_codes_alike(n: int, more: int, seed: int) -> None:
    vectors = unit(n, 16, seed)
    others = unit(more, 16, seed + 100)
    codebook = Codebook.train(vectors, n, seed)
    codes = codebook.encode(vectors)
    larger = codebook.extended(others, 10 * n)
    assert np.array_equal(larger.centroids[: len(codebook.centroids)], codebook.centroids)
    assert np.array_equal(larger.decode(codes), codebook.decode(codes))


def test_encoding_is_deterministic_and_independent_of_the_batch() -> None:
    vectors = unit(500, 32)
    codebook = Codebook.train(vectors, 500)
    other = Codebook.train(vectors, 500)
    assert np.array_equal(codebook.centroids, other.centroids)
    whole = codebook.encode(vectors)
    part = codebook.encode(vectors[100:200])
    assert np.array_equal(whole["values"][100:200], part["values"])
    assert np.array_equal(whole["scales"][100:200], part["scales"])


def test_the_nearest_of_many_centroids_is_mostly_found_by_groups() -> None:
    vectors = unit(12_000, 16)
    codebook = Codebook.train(vectors, 10**6)
    assert len(codebook.centroids) > 1024
    nearest = (vectors @ codebook.centroids.T - (codebook.centroids**2).sum(1) / 2).argmax(1)
    assert (codebook.nearest(vectors) == nearest).mean() > 0.9


def test_a_token_takes_68_bytes() -> None:
    codes = Codebook.train(unit(100, 128), 100).encode(unit(100, 128))
    assert sum(column.nbytes for column in codes.values()) == 100 * 68
