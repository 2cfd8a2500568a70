from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_vectors import collection, segment_of, stored_of

from spanwise.errors import IndexCorrupt
from spanwise.index import stored_vectors
from spanwise.index.stored_vectors import StoredVectors

PARTS = [collection(n, 8, n) for n in (5, 1, 30, 12)]
ALL = np.concatenate(PARTS)


@given(st.sets(st.integers(1, 48)), st.lists(st.integers(0, 47)))
def test_rows_are_those_of_their_passages(deleted, places) -> None:
    stored = stored_of(*PARTS, deleted=np.array(sorted(deleted), np.int64))
    live = [number for number in range(1, 49) if number not in deleted]
    assert stored.passage_ids.tolist() == live
    rows = np.array([place for place in places if place < len(live)], np.int64)
    assert np.array_equal(stored.gather(rows), ALL[stored.passage_ids[rows] - 1])
    assert stored.rows_of(stored.passage_ids[rows]).tolist() == rows.tolist()


def test_a_passage_without_a_vector_has_no_row() -> None:
    assert stored_of(*PARTS, deleted=np.array([3])).rows_of(np.array([3, 4, 99])).tolist() == [-1, 2, -1]
    assert stored_of(PARTS[1], deleted=np.array([1])).rows_of(np.array([1])).tolist() == [-1]


@given(st.lists(st.booleans(), min_size=45, max_size=45), st.integers(1, 20))
def test_blocks_are_the_chosen_rows_in_order(chosen, size) -> None:
    stored = stored_of(*PARTS, deleted=np.array([1, 20, 48]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_vectors, "BLOCK", size)
        blocks = list(stored.blocks(np.array(chosen)))
    assert all(1 <= len(block) <= size for block in blocks)
    expected = stored.gather(np.flatnonzero(chosen))
    assert np.array_equal(np.concatenate([np.empty((0, 8), np.float32), *blocks]), expected)


def test_a_part_keeps_order_and_rows() -> None:
    stored = stored_of(*PARTS, deleted=np.array([2, 7]))
    chosen = stored.passage_ids % 3 == 0
    part = stored.part(chosen)
    assert part.passage_ids.tolist() == stored.passage_ids[chosen].tolist()
    assert np.array_equal(part.gather(np.arange(len(part))), stored.gather(np.flatnonzero(chosen)))
    assert part.sums.tolist() == stored.sums[chosen].tolist()


def test_a_changed_vector_is_found_when_it_is_read() -> None:
    vectors = collection(20, 8)
    segment = segment_of(vectors)
    vectors[7, 3] += 1e-7
    stored = StoredVectors.live([segment], np.empty(0, np.int64), checked=False)
    assert np.array_equal(stored.gather(np.array([1, 6])), vectors[[1, 6]])
    with pytest.raises(IndexCorrupt, match="does not match its sum"):
        stored.gather(np.array([6, 7]))
