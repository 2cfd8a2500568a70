"""The codebook: deterministic, within bounds, extensible without touching what is written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from spanwise.index.maxsim.codebook import Codebook

WIDTHS = (8, 32, 64, 96, 128, 256)


def unit(n: int, width: int, seed: int = 0) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((n, width), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("width", WIDTHS)
def test_decoded_vectors_are_near(width: int, bits: int) -> None:
    vectors = unit(300, width)
    codebook = Codebook.train(vectors, 300, bits)
    errors = ((codebook.decode(codebook.encode(vectors)) - vectors) ** 2).sum(1)
    assert errors.mean() < {2: 0.2, 4: 0.02, 8: 0.0003}[bits]


@pytest.mark.parametrize(("bits", "n_bytes"), [(2, 36), (4, 68), (8, 132)])
def test_bytes_of_a_token(bits: int, n_bytes: int) -> None:
    vectors = unit(100, 128)
    codes = Codebook.train(vectors, 100, bits).encode(vectors)
    assert codes.nbytes == 100 * n_bytes


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.sampled_from([4, 8, 32]), st.sampled_from([2, 4, 8]), st.integers(0, 9))
def test_columns_round_trip(n: int, width: int, bits: int, seed: int) -> None:
    vectors = unit(n, width, seed)
    codebook = Codebook.train(vectors, n, bits, seed)
    again = Codebook.from_columns(codebook.columns())
    codes = codebook.encode(vectors)
    assert np.array_equal(again.decode(codes), codebook.decode(codes))


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.integers(0, 40), st.sampled_from([2, 4, 8]), st.integers(0, 9))
def test_extended_keeps_what_is_written(n: int, more: int, bits: int, seed: int) -> None:
    vectors, others = unit(n, 16, seed), unit(more, 16, seed + 100)
    codebook = Codebook.train(vectors, n, bits, seed)
    codes = codebook.encode(vectors)
    larger = codebook.extended(others, 10 * n)
    assert np.array_equal(larger.centroids[: len(codebook.centroids)], codebook.centroids)
    assert np.array_equal(larger.decode(codes), codebook.decode(codes))
