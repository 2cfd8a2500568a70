"""Weights in 8 and 4 bits: the error of each weight is within the bound that the format states."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import ModelRejected
from spanwise.models.quantized import (
    GROUP,
    quantized_groups,
    read_quantized,
    restored_groups,
    save_quantized,
)
from spanwise.models.weights import Checkpoint, quantized_rows


def matrix(seed: int, rows: int, columns: int, size: float) -> torch.Tensor:
    return size * torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))


matrices = st.builds(
    matrix,
    st.integers(0, 999),
    st.integers(1, 9),
    st.integers(1, 70),
    st.sampled_from([0.0, 1e-9, 1e-5, 1.0, 1e6]),
)


@given(matrices)
def test_eight_bits_err_by_half_a_step_of_their_row(weights):
    q, scale = quantized_rows(weights)
    assert ((q.float() * scale - weights).abs() <= scale / 2 * 1.001).all()


@given(matrices)
def test_four_bits_err_by_half_a_step_of_their_group(weights):
    packed, scale = quantized_groups(weights)
    assert packed.numel() == GROUP // 2 * scale.numel()
    error = (restored_groups(packed, scale, list(weights.shape)) - weights).abs().flatten()
    largest = torch.nn.functional.pad(weights.flatten(), (0, -weights.numel() % GROUP)).view(-1, GROUP)
    largest = largest.abs().amax(dim=1).repeat_interleave(GROUP)[: weights.numel()]
    assert (error <= largest / 14 * 1.001 + largest / 512).all()


@pytest.mark.parametrize(("bits", "most"), [(8, 0.01), (4, 0.15)])
def test_a_file_gives_back_settings_vectors_and_matrices(tmp_path, bits, most):
    weights = {"a.weight": matrix(1, 40, 50, 1.0), "a.bias": torch.arange(3.0), "small": matrix(2, 2, 2, 1.0)}
    save_quantized(tmp_path / "w", Checkpoint({"hidden_size": 3}, weights), bits)
    found = read_quantized(tmp_path / "w")
    assert found.config == {"hidden_size": 3}
    assert found.weights.keys() == weights.keys()
    assert torch.equal(found.weights["a.bias"], weights["a.bias"])
    assert torch.equal(found.weights["small"], weights["small"])
    relative = (found.weights["a.weight"] - weights["a.weight"]).norm() / weights["a.weight"].norm()
    assert relative < most
    assert (tmp_path / "w").stat().st_size < 2000 * bits / 8 * 1.3 + 1000


def test_damaged_files_are_rejected_by_name(tmp_path):
    save_quantized(tmp_path / "w", Checkpoint({}, {"a": matrix(1, 40, 50, 1.0)}), 4)
    whole = (tmp_path / "w").read_bytes()
    for damaged in (whole[:-9], whole.replace(b"spanwise-quantized-1", b"spanwise-quantized-2"), b""):
        (tmp_path / "w").write_bytes(damaged)
        with pytest.raises(ModelRejected, match=str(tmp_path / "w")):
            read_quantized(tmp_path / "w")
