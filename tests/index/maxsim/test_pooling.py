from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.index.maxsim.pooling import clusters, pooled


def unit_rows(n: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, 8)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_alike_tokens_share_a_vector() -> None:
    x, y = np.eye(2, dtype=np.float32)
    near = np.array([0.995, 0.0998], np.float32)
    assert clusters(np.stack([x, y, near, y]), 2).tolist() == [0, 1, 0, 1]


def test_a_factor_of_one_changes_nothing() -> None:
    rows, lengths = unit_rows(5), np.array([2, 3])
    assert pooled(rows, lengths, 1) == (rows, lengths)


def test_mean_similarity_decides_as_worked_by_hand() -> None:
    """Angles 0, 10, 40, 60 degrees: first 0 and 10 (.985), then 40 and 60 (.940), not 10 and 40 (.866)."""
    angles = np.radians([0, 10, 40, 60])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert clusters(rows, 2).tolist() == [0, 0, 1, 1]
    vectors, lengths = pooled(rows, np.array([4]), 2)
    assert np.degrees(np.arctan2(vectors[:, 1], vectors[:, 0])) == pytest.approx([5, 50], abs=1e-3)
    assert lengths.tolist() == [2]


def test_opposite_tokens_leave_a_unit_vector() -> None:
    vectors, _ = pooled(np.array([[1, 0], [-1, 0]], np.float32), np.array([2]), 2)
    assert vectors.tolist() == [[1, 0]]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(1, 5), st.integers(0, 99))
def test_passages_are_pooled_alone_into_unit_rows(lengths, factor, seed) -> None:
    rows, ends = unit_rows(sum(lengths), seed), np.cumsum(lengths)
    vectors, kept = pooled(rows, np.array(lengths), factor)
    assert kept.tolist() == [-(-n // factor) for n in lengths]
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    alone = [
        pooled(rows[end - n : end], np.array([n]), factor)[0] for n, end in zip(lengths, ends, strict=True)
    ]
    assert np.array_equal(vectors, np.concatenate(alone))


def test_a_factor_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="not 0"):
        pooled(unit_rows(2), np.array([2]), 0)
