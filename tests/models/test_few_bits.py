from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spanwise.models.few_bits import GROUP, from_codes, pack_bits, to_codes, unpack_bits

BITS = st.integers(2, 7)


def shared_error(values, bits):
    codes, scales = to_codes(values, bits)
    restored = from_codes(codes, scales, bits, values.shape)
    return float((restored - values).square().sum() / values.square().sum())


@given(bits=BITS, codes=st.integers(0, 6).flatmap(lambda n: arrays(np.uint8, 8 * n)))
def test_codes_survive_packing(bits, codes):
    codes &= np.uint8(2**bits - 1)
    packed = pack_bits(codes, bits)
    assert len(packed) == len(codes) * bits // 8
    assert unpack_bits(packed, bits, len(codes)).tolist() == codes.tolist()


@given(
    bits=BITS,
    values=arrays(
        np.float32, st.tuples(st.integers(1, 5), st.integers(1, 70)), elements=st.floats(-2, 2, width=16)
    ),
)
def test_no_value_is_further_off_than_its_group_is_wide(bits, values):
    codes, scales = to_codes(torch.from_numpy(values), bits)
    restored = from_codes(codes, scales, bits, values.shape).numpy()
    assert restored.shape == values.shape
    assert np.abs(restored - values).max(initial=0) <= np.abs(values).max(initial=0)


def test_zeros_stay_zeros():
    codes, scales = to_codes(torch.zeros(3, 50), 3)
    assert not from_codes(codes, scales, 3, (3, 50)).any()


def test_every_code_is_used_where_values_are_even():
    values = torch.arange(-8, 8).repeat(4).float() / 4
    assert shared_error(values, 4) == 0


def test_tiny_differences_are_kept_in_proportion():
    torch.manual_seed(0)
    assert shared_error(1e-12 * torch.randn(32, 64), 4) < 0.01


def test_the_search_is_no_worse_than_the_largest_number():
    torch.manual_seed(0)
    values = torch.randn(32, GROUP)
    scale = values.abs().amax(dim=1, keepdim=True) / 7
    plain = (values / scale).round() * scale
    assert shared_error(values, 4) < float((plain - values).square().sum() / values.square().sum())


def test_more_bits_leave_less_error():
    torch.manual_seed(0)
    values = torch.randn(32, GROUP)
    errors = [shared_error(values, bits) for bits in (2, 3, 4, 6)]
    assert errors == sorted(errors, reverse=True)
    assert errors == pytest.approx([0.125, 0.031, 0.008, 0.0005], rel=0.15)
