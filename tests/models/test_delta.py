from __future__ import annotations

import pytest
import torch
from torch import nn

from spanwise.errors import ModelRejected
from spanwise.models.delta import apply_delta, read_delta, save_delta

BASE = "b" * 64


class Model(nn.Module):
    def __init__(self, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.frozen, self.tuned, self.head = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(4, 2)


def tuned_and_base():
    base, tuned = Model(0), Model(0)
    with torch.no_grad():
        tuned.tuned.weight += 0.01 * torch.randn(4, 8)
        tuned.tuned.bias += 0.5
        tuned.head.weight.normal_()
    state = {name: tensor for name, tensor in base.state_dict().items() if not name.startswith("head")}
    return tuned, state


@pytest.mark.parametrize(("precision", "tolerance"), [("int8", 1 / 254), ("bf16", 1 / 256)])
def test_a_round_trip_restores_the_weights_to_the_stated_error(tmp_path, precision, tolerance):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base, BASE, precision)
    restored = Model(0)
    apply_delta(restored, tmp_path / "d", BASE)
    change = (tuned.tuned.weight - base["tuned.weight"]).abs().amax(dim=1, keepdim=True)
    assert bool(((restored.tuned.weight - tuned.tuned.weight).abs() <= change * tolerance + 1e-7).all())
    assert torch.equal(restored.head.weight, tuned.head.weight)
    assert torch.allclose(restored.tuned.bias, tuned.tuned.bias, atol=1e-6)


def test_unchanged_weights_are_not_stored(tmp_path):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base, BASE)
    assert set(read_delta(tmp_path / "d", BASE)) == {"tuned.weight", "tuned.bias", "head.weight", "head.bias"}


def test_a_row_without_change_decodes_to_no_change(tmp_path):
    tuned, base = tuned_and_base()
    with torch.no_grad():
        tuned.tuned.weight[1] = base["tuned.weight"][1]
    save_delta(tmp_path / "d", tuned.state_dict(), base, BASE)
    kind, difference = read_delta(tmp_path / "d", BASE)["tuned.weight"]
    assert kind == "difference"
    assert not difference[1].any()


def test_differences_from_another_base_are_refused(tmp_path):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base, BASE)
    with pytest.raises(ModelRejected, match="not made for the base"):
        apply_delta(Model(0), tmp_path / "d", "c" * 64)


@pytest.mark.promise("T10")
def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / "d").write_bytes(b"\x80\x04 not safetensors")
    with pytest.raises(ModelRejected, match="cannot be read"):
        apply_delta(Model(0), tmp_path / "d", BASE)


def test_weights_of_another_shape_are_refused(tmp_path):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base, BASE)
    with pytest.raises(ModelRejected, match="does not fit"):
        apply_delta(nn.Linear(2, 2), tmp_path / "d", BASE)
