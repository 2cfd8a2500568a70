from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_token_vectors import codebook

from spanwise.errors import IndexCorrupt
from spanwise.index.maxsim import tokens_merge
from spanwise.index.maxsim.token_codes import TokenCodes
from spanwise.index.maxsim.token_staging import TokensBuilder
from spanwise.index.maxsim.tokens import TokenSegment
from spanwise.index.maxsim.tokens_merge import merge_tokens
from spanwise.index.segment import open_segment
from spanwise.index.segment_writer import write_segment

NOBODY = np.empty(0, np.int64)


def segment_of(folder, ids, n_bytes=4, times=1):
    """A segment on disk in which passage n has 1 to 3 tokens, all of whose numbers are n."""
    builder = TokensBuilder()
    numbers = np.array(ids, np.int64)
    lengths = (1 + numbers % 3) * times
    each = np.repeat(numbers, lengths)
    values = np.repeat(each[:, np.newaxis], n_bytes, 1).astype(np.uint8)
    codes = TokenCodes(each.astype(np.uint16), values, each.astype(np.float16))
    builder.add(numbers, codes, lengths, numbers.astype(np.int32))
    return TokenSegment(open_segment(folder / write_segment(folder, "tokens", "m", builder.columns())))


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=40),
    st.sets(st.integers(1, 40)),
    st.integers(1, 20),
)
def test_merged_segments_hold_what_is_live_in_the_order_of_ids(
    tmp_path_factory, owners, deleted, block
) -> None:
    folder = tmp_path_factory.mktemp("segments")
    owned = [[row for row, owner in enumerate(owners, 1) if owner == number] for number in range(4)]
    parts = [segment_of(folder, ids) for ids in owned if ids]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens_merge, "_BLOCK", block)
        columns = merge_tokens(parts, np.array(sorted(deleted), np.int64))
        other = tmp_path_factory.mktemp("merged")
        merged = TokenSegment(open_segment(other / write_segment(other, "tokens", "m", columns)))
    live = sorted(set(range(1, len(owners) + 1)) - deleted)
    assert merged.passage_ids.tolist() == live
    assert np.diff(merged.ends, prepend=0).tolist() == [1 + number % 3 for number in live]
    tokens = [number for number in live for _ in range(1 + number % 3)]
    assert merged.codes.centroids.tolist() == tokens
    assert merged.codes.values.tolist() == [[number] * 4 for number in tokens]
    assert merged.codes.scales.tolist() == tokens
    assert merged.covered.tolist() == live
    merged.check_rows(np.arange(len(live)))


def test_the_order_in_which_passages_were_staged_does_not_matter(tmp_path) -> None:
    (tmp_path / "b").mkdir()
    ascending, other = segment_of(tmp_path, range(1, 30)), segment_of(tmp_path / "b", range(29, 0, -1))
    assert ascending._segment.path.name == other._segment.path.name


def test_a_merge_takes_memory_for_a_block_of_tokens(tmp_path) -> None:
    parts = [segment_of(tmp_path, range(first, 4_000, 2), 32, times=50) for first in (1, 2)]
    size = sum(part.codes.nbytes for part in parts)
    tracemalloc.start()
    write_segment(tmp_path, "tokens", "m", merge_tokens(parts, NOBODY))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 2


@pytest.mark.parametrize("column", ["centroids", "values", "scales"])
def test_a_damaged_token_is_not_merged(tmp_path, column) -> None:
    path = segment_of(tmp_path, range(1, 9))._segment.path
    segment = open_segment(path)
    whole = bytearray(segment.data)
    place = segment.columns[column].ctypes.data - np.frombuffer(segment.data, np.uint8).ctypes.data
    whole[place + 3 * segment.columns[column].strides[0]] ^= 1
    (path / "columns.bin").write_bytes(whole)
    damaged = TokenSegment(open_segment(path))
    with pytest.raises(IndexCorrupt, match=r"columns\.bin is damaged .the tokens of a passage"):
        write_segment(tmp_path, "tokens", "m", merge_tokens([damaged], NOBODY))


def test_ends_that_are_damaged_are_not_followed(tmp_path) -> None:
    path = segment_of(tmp_path, range(1, 9))._segment.path
    whole = bytearray((path / "columns.bin").read_bytes())
    whole[64 + 5] ^= 1  # the first end
    (path / "columns.bin").write_bytes(whole)
    with pytest.raises(IndexCorrupt, match="column ends does not match"):
        merge_tokens([TokenSegment(open_segment(path))], NOBODY)


def test_codes_below_the_codebook_are_read(tmp_path) -> None:
    part = segment_of(tmp_path, [0])
    part.check_whole(codebook())
