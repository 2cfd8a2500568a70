"""Rows of passages, one or many each: builders, merges, and the live rows of all segments as one."""

import tracemalloc

import numpy as np
import pytest
from helpers.passage_rows import NOBODY, collection, vectors_in
from helpers.token_vectors import codebook, tokens_of
from hypothesis import given, strategies as st

from spanwise.errors import IndexCorrupt
from spanwise.index import passage_rows as rows
from spanwise.index.maxsim.tokens import open_tokens
from spanwise.index.passage_rows import Batch, RowsSegment, StoredRows, merge_rows
from spanwise.index.segment import TOKENS, VECTORS, open_segment, write_segment

TEXTS = [" ".join(f"w{number % 12 + n}" for n in range(1 + number % 4)) for number in range(20)]
ENDS = np.cumsum([len(text.split()) for text in TEXTS])
KINDS = pytest.mark.parametrize("kind", [VECTORS, TOKENS])


def numbered(folder, kind, ids, width=4, times=1):
    """A segment on disk whose numbers are those of their passages; of tokens, passage n has 1 to 3."""
    numbers = np.array(ids, np.int64)
    lengths = np.ones(len(ids), np.int64) if kind == VECTORS else (1 + numbers % 3) * times
    each = np.repeat(numbers, lengths)
    table = np.repeat(each[:, np.newaxis], width, 1)
    data = {"vectors": table.astype(np.float32)}
    if kind == TOKENS:
        data = {
            "centroids": each.astype(np.uint16),
            "values": table.astype(np.uint8),
            "scales": each.astype(np.float16),
        }
    columns = merge_rows(kind, [Batch.of(numbers, lengths, data)], NOBODY)
    return RowsSegment(open_segment(folder / write_segment(folder, kind, "m", columns)))


@KINDS
@given(
    owners=st.lists(st.integers(0, 3), min_size=1, max_size=40),
    deleted=st.sets(st.integers(1, 40)),
    block=st.integers(1, 20),
)
def test_merged_segments_hold_the_live_rows_in_the_order_of_ids(
    tmp_path_factory, kind, owners, deleted, block
) -> None:
    folder = tmp_path_factory.mktemp("segments")
    other = tmp_path_factory.mktemp("merged")
    owned = [[row for row, owner in enumerate(owners, 1) if owner == number] for number in range(4)]
    parts = [numbered(folder, kind, ids) for ids in owned if ids]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_BLOCK", block)
        columns = merge_rows(kind, parts, np.array(sorted(deleted), np.int64))
        merged = RowsSegment(open_segment(other / write_segment(other, kind, "m", columns)))
    live = sorted(set(range(1, len(owners) + 1)) - deleted)
    assert merged.passage_ids.tolist() == live
    lengths = [1 if kind == VECTORS else 1 + number % 3 for number in live]
    assert np.diff(merged.ends, prepend=0).tolist() == lengths
    expected = np.repeat(live, lengths).tolist()
    for column in merged.data.values():
        assert (column if column.ndim == 1 else column[:, 0]).tolist() == expected
    merged.check_rows(np.arange(len(live)))


@KINDS
def test_a_merge_takes_memory_for_a_block(tmp_path, kind) -> None:
    n, times = (40_000, 1) if kind == VECTORS else (4_000, 50)
    parts = [numbered(tmp_path, kind, range(first, n, 2), 64, times) for first in (1, 2)]
    size = sum(column.nbytes for part in parts for column in part.data.values())
    columns = merge_rows(kind, parts, NOBODY)
    tracemalloc.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_BLOCK", 4096)
        write_segment(tmp_path, kind, "m", columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 2


def flip(path, column, row) -> None:
    """Change a bit in the first byte of a row of a column."""
    segment = open_segment(path)
    place = segment.columns[column].ctypes.data - np.frombuffer(segment.data, np.uint8).ctypes.data
    data = bytearray((path / "columns.bin").read_bytes())
    data[place + row * segment.columns[column].strides[0]] ^= 1
    (path / "columns.bin").write_bytes(data)


def write_tokens(folder, first, texts):
    """The folder of a segment of tokens whose passages are numbered from `first`."""
    tokens = [tokens_of(text) for text in texts]
    codes = codebook().encode(np.concatenate(tokens))
    batch = Batch.of(np.arange(first, first + len(texts)), np.array(list(map(len, tokens))), codes)
    return folder / write_segment(folder, TOKENS, "t", merge_rows(TOKENS, [batch], NOBODY))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("segments")
    return [write_tokens(folder, first, TEXTS[first - 1 : last]) for first, last in ((1, 7), (8, 8), (9, 20))]


def stored_in(paths, deleted=()) -> StoredRows:
    opened = [open_tokens(open_segment(path), codebook()) for path in paths]
    return StoredRows.live(opened, np.array(sorted(deleted), np.int64))


@given(st.sets(st.integers(1, 20)), st.lists(st.integers(0, 19)))
def test_rows_are_those_of_their_passages(paths, deleted, chosen) -> None:
    stored = stored_in(paths, deleted)
    live = [number for number in range(1, 21) if number not in deleted]
    assert stored.passage_ids.tolist() == live
    assert stored.lengths.tolist() == [len(TEXTS[number - 1].split()) for number in live]
    wanted = np.array([place for place in chosen if place < len(live)], np.int64)
    encoded = [codebook().encode(tokens_of(TEXTS[live[row] - 1])) for row in wanted]
    rows_read = stored.read(wanted)
    assert rows_read["values"].tobytes() == b"".join(codes["values"].tobytes() for codes in encoded)
    assert stored.rows_of(stored.passage_ids[wanted]).tolist() == wanted.tolist()


@given(st.lists(st.booleans(), min_size=45, max_size=45), st.integers(1, 20))
def test_blocks_are_the_chosen_rows_in_order(chosen, size) -> None:
    parts = [collection(n, 8, n) for n in (5, 1, 30, 12)]
    stored = vectors_in(*parts, deleted=[1, 20, 48])
    picked = np.flatnonzero(chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_BLOCK", size)
        blocks = list(stored.blocks("vectors", picked))
    assert all(1 <= len(block) <= size for block in blocks)
    expected = stored.read(picked)["vectors"]
    assert np.array_equal(np.concatenate([np.empty((0, 8), np.float32), *blocks]), expected)
    part = stored.only(np.array(chosen))
    assert part.passage_ids.tolist() == stored.passage_ids[picked].tolist()
    assert part.sums.tolist() == stored.sums[picked].tolist()


@pytest.mark.parametrize("column", ["passage_ids", "ends", "centroids", "sums"])
def test_a_flipped_bit_of_a_small_column_is_found_on_opening(tmp_path, column) -> None:
    path = write_tokens(tmp_path, 1, TEXTS)
    flip(path, column, 5)
    with pytest.raises(IndexCorrupt, match=f"column {column} does not match its digest"):
        stored_in([path])


@pytest.mark.parametrize("column", ["values", "scales"])
def test_a_flipped_bit_of_data_is_found_when_it_is_read(tmp_path, column) -> None:
    path = write_tokens(tmp_path, 1, TEXTS)
    flip(path, column, 2)  # the second token of the second passage
    stored = stored_in([path])
    stored.read(np.array([0, 2, 3]))
    with pytest.raises(IndexCorrupt, match=r"columns\.bin is damaged .the data of a passage"):
        stored.read(np.array([2, 1]))
    with pytest.raises(IndexCorrupt, match=f"column {column} does not match its digest"):
        stored.check()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ends": ENDS[::-1].copy()}, "its ends are not places"),
        ({"ends": ENDS - 1}, "its ends are not places"),
        ({"ends": ENDS * 2}, "its ends are not places"),
        ({"ends": ENDS - 2**40}, "its ends are not places"),
        ({"passage_ids": np.ones(20, np.int64)}, "its passages do not ascend"),
        ({"centroids": np.full(ENDS[-1], 9999, np.uint16)}, "a token has centroid 9999, the codebook has"),
        ({"values": np.zeros((ENDS[-1], 1), np.uint8)}, "1 bytes per token instead of 4"),
    ],
)
def test_forged_columns_with_right_digests_are_refused(tmp_path, changes, message) -> None:
    source = open_segment(write_tokens(tmp_path, 1, TEXTS))
    columns = {name: column.copy() for name, column in source.columns.items()} | changes
    with pytest.raises(IndexCorrupt, match=message):
        stored_in([tmp_path / write_segment(tmp_path, TOKENS, "t", columns)])
