from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import IndexCorrupt
from spanwise.index.segment import open_segment
from spanwise.index.segment_writer import Blocks, write_segment
from spanwise.index.vectors import VectorsBuilder, VectorSegment
from spanwise.index.vectors_merge import merge_vectors

NOBODY = np.empty(0, np.int64)


def segment_of(folder, ids, width=4):
    """A segment on disk in which every number of a vector, and what is covered, is the passage's id."""
    builder = VectorsBuilder()
    numbers = np.array(ids, np.int64)
    builder.add(
        numbers, np.repeat(numbers[:, np.newaxis], width, 1).astype(np.float32), numbers.astype(np.int32)
    )
    return VectorSegment(open_segment(folder / write_segment(folder, "vectors", "m", builder.columns())))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.sets(st.integers(1, 40)))
def test_merged_segments_hold_what_is_live_in_the_order_of_ids(tmp_path_factory, owners, deleted) -> None:
    folder = tmp_path_factory.mktemp("segments")
    owned = [[row for row, owner in enumerate(owners, 1) if owner == number] for number in range(4)]
    parts = [segment_of(folder, ids) for ids in owned if ids]
    columns = merge_vectors(parts, np.array(sorted(deleted), np.int64))
    other = tmp_path_factory.mktemp("merged")
    merged = VectorSegment.open(open_segment(other / write_segment(other, "vectors", "m", columns)))
    live = sorted(set(range(1, len(owners) + 1)) - deleted)
    assert merged.passage_ids.tolist() == live
    assert merged.vectors.tolist() == [[number] * 4 for number in live]
    assert merged.covered.tolist() == live
    assert merged.read(np.arange(len(live))).tolist() == merged.vectors.tolist()


def test_a_merge_takes_memory_for_a_block_of_vectors(tmp_path) -> None:
    parts = [segment_of(tmp_path, range(first, 40_000, 2), width=64) for first in (1, 2)]
    size = sum(part.vectors.nbytes for part in parts)
    tracemalloc.start()
    write_segment(tmp_path, "vectors", "m", merge_vectors(parts, NOBODY))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 2


def test_a_damaged_vector_is_not_merged(tmp_path) -> None:
    part = segment_of(tmp_path, range(1, 9))
    file = tmp_path / part._segment.path / "columns.bin"
    data = bytearray(file.read_bytes())
    data[64 + 16 * 3] ^= 1
    file.write_bytes(data)
    with pytest.raises(IndexCorrupt, match=r"columns\.bin is damaged .a vector does not match its sum"):
        write_segment(tmp_path, "vectors", "m", merge_vectors([part], NOBODY))


def test_blocks_must_add_up_to_their_shape(tmp_path) -> None:
    column = Blocks("<f4", (3, 2), iter([np.zeros((2, 2), np.float32)]))
    with pytest.raises(ValueError, match="column c ends at 16 instead of 24"):
        write_segment(tmp_path, "kind", "", {"c": column})
