from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from spanwise.models.packed import Layout, PackedTokens, rounded

LENGTHS = st.lists(st.integers(1, 70), min_size=1, max_size=12)


def layout(lengths):
    return Layout.of(np.array(lengths), torch.float32, torch.device("cpu"))


@given(LENGTHS)
def test_each_token_has_a_row_of_its_own(lengths):
    found = layout(lengths)
    assert len(set(found.places.tolist())) == sum(lengths)
    assert found.places.max() < found.n_rows


@given(LENGTHS)
def test_biases_hide_the_rows_that_hold_no_token(lengths):
    found = layout(lengths)
    seen = np.zeros(found.n_rows, dtype=bool)
    for block in found.blocks:
        bias = torch.zeros(block.n, block.width) if block.bias is None else block.bias[:, 0, 0]
        seen[block.first : block.last] = (bias == 0).flatten().numpy()
    assert np.array_equal(np.flatnonzero(seen), found.places)


@given(LENGTHS)
def test_blocks_follow_one_another(lengths):
    blocks = layout(lengths).blocks
    assert [block.first for block in blocks] == [0, *(block.last for block in blocks[:-1])]
    assert all(block.last - block.first == block.n * block.width for block in blocks)


@given(st.integers(1, 10**6))
def test_rounding_adds_little_and_keeps_whole_vectors(n_rows):
    assert n_rows <= rounded(n_rows) <= n_rows * 17 / 16 + 16
    assert rounded(n_rows) % 16 == 0
    assert rounded(rounded(n_rows)) == rounded(n_rows)


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=9), min_size=1, max_size=9))
def test_padding_and_packing_undo_one_another(rows):
    tokens = PackedTokens.of(rows)
    again = PackedTokens.of_padded(*tokens.padded(0))
    assert again.ids.tolist() == tokens.ids.tolist() == [i for row in rows for i in row]
    assert again.lengths.tolist() == [len(row) for row in rows]
