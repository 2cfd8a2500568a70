"""Pooling: how many rows are left, which, and that similar ones meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maxsim_vectors import unit

from spanwise.index.maxsim.pooling import pool


def test_one_changes_nothing() -> None:
    vectors = unit(7, 8)
    pooled, lengths = pool(vectors, np.array([3, 4]), 1)
    assert np.array_equal(pooled, vectors)
    assert lengths.tolist() == [3, 4]


def test_equal_vectors_meet_and_others_stay() -> None:
    a, b, c = np.eye(3, 4, dtype=np.float32)
    pooled, lengths = pool(np.stack([a, b, a, c, b, a]), np.array([6]), 2)
    assert lengths.tolist() == [3]
    assert np.allclose(pooled, [a, b, c])


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 20), max_size=5), st.integers(2, 5), st.integers(0, 9))
def test_passages_do_not_mix(lengths: list[int], factor: int, seed: int) -> None:
    vectors = unit(sum(lengths), 8, seed)
    pooled, kept = pool(vectors, np.array(lengths, np.int64), factor)
    assert kept.tolist() == [-(-length // factor) for length in lengths]
    assert np.allclose(np.linalg.norm(pooled, axis=1), 1, atol=1e-5)
    alone = [pool(part, np.array([len(part)]), factor)[0] for part in np.split(vectors, np.cumsum(lengths))]
    assert np.array_equal(pooled, np.concatenate(alone))


def test_ward_equals_an_independent_implementation() -> None:
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    vectors = unit(40, 16)
    labels = hierarchy.fcluster(hierarchy.linkage(vectors, "ward"), 10, "maxclust")
    means = np.stack([vectors[labels == label].mean(0) for label in np.unique(labels)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    pooled, _ = pool(vectors, np.array([40]), 4)
    assert (pooled @ means.T).max(1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("lengths", "factor"), [([3, 5], 2), ([3, 4], 0), ([-1, 8], 2)])
def test_bad_arguments(lengths: list[int], factor: int) -> None:
    with pytest.raises(ValueError, match=r"pooling|lengths"):
        pool(unit(7, 8), np.array(lengths), factor)
