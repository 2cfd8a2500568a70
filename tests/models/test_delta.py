from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from spanwise.errors import ModelRejected
from spanwise.models.delta import FEW_BITS
from spanwise.models.weights import FORMAT, apply_delta, read_delta, save_delta

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


@pytest.mark.parametrize(("precision", "bits"), FEW_BITS.items())
def test_few_bits_keep_shape_and_most_of_a_difference(tmp_path, precision, bits):
    torch.manual_seed(0)
    base = {"w": torch.randn(48, 40)}
    tuned = {"w": base["w"] + 0.01 * torch.randn(48, 40)}
    save_delta(tmp_path / "d", tuned, base, BASE, precision)
    kind, difference = read_delta(tmp_path / "d", BASE)["w"]
    change = tuned["w"] - base["w"]
    assert kind == "difference"
    assert (difference - change).square().sum() < 0.75 * 4 ** (1 - bits) * change.square().sum()


def test_a_function_chooses_the_precision_of_a_weight(tmp_path):
    tuned, base = tuned_and_base()
    with torch.no_grad():
        tuned.frozen.weight += 0.01
    chosen = {"frozen.weight": "int4", "tuned.weight": "bf16"}
    save_delta(tmp_path / "d", tuned.state_dict(), base, BASE, chosen.__getitem__)
    assert {"frozen.weight:q4", "tuned.weight:bf16"} <= set(load_file(tmp_path / "d"))


def test_an_unknown_precision_is_refused(tmp_path):
    tuned, base = tuned_and_base()
    with pytest.raises(ValueError, match="not 'int5'"):
        save_delta(tmp_path / "d", tuned.state_dict(), base, BASE, "int5")


def test_files_of_the_first_format_are_read(tmp_path):
    tensors = {"w:q8": torch.tensor([[127, -127]], dtype=torch.int8), "w:scale": torch.tensor([[0.5]])}
    save_file(tensors, tmp_path / "d", metadata={"format": "spanwise-delta-1", "base_sha256": BASE})
    assert read_delta(tmp_path / "d", BASE)["w"][1].tolist() == [[63.5, -63.5]]


def test_files_of_a_later_format_are_refused(tmp_path):
    save_file({"w:new": torch.ones(1)}, tmp_path / "d", metadata={"format": "spanwise-delta-9"})
    with pytest.raises(ModelRejected, match="spanwise-delta-9"):
        read_delta(tmp_path / "d", BASE)


@pytest.mark.promise("T10")
@pytest.mark.parametrize(
    "damage",
    [
        {"w:shape": torch.tensor([4, 9000])},
        {"w:shape": torch.tensor([-1, -40])},
        {"w:scale": torch.ones(2)},
        {"w:q4": torch.zeros(5, dtype=torch.uint8)},
        {"w:q4": torch.zeros(96)},
        {"w:q5": torch.zeros(96, dtype=torch.uint8)},
        {"w:shape": None},
        {"w:scale": None},
    ],
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path, damage):
    save_delta(tmp_path / "d", {"w": torch.randn(4, 40)}, {"w": torch.zeros(4, 40)}, BASE, "int4")
    tensors = {key: t for key, t in {**load_file(tmp_path / "d"), **damage}.items() if t is not None}
    save_file(tensors, tmp_path / "e", metadata={"format": FORMAT, "base_sha256": BASE})
    with pytest.raises(ModelRejected, match="do not fit together"):
        read_delta(tmp_path / "e", BASE)


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    with pytest.raises(ModelRejected, match="the weight w is not finite"):
        save_delta(tmp_path / "d", {"w": torch.full((2, 2), torch.nan)}, {}, BASE)
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    ("row", "codes", "error"),
    [
        (
            [0.5, -1.2, 3.4, 2.1, -0.7, 1.8, 0.0, 4.6, -2.3, 1.1],
            [14, -33, 94, 58, -19, 50, 0, 127, -64, 30],  # -63.5 is a tie: to the even one
            0.018110,
        ),
        ([10.0, -3.0, 5.0, 4.0], [127, -38, 64, 51], 0.039370),
    ],
)
def test_codes_of_a_row_by_its_largest_change(tmp_path, row, codes, error):
    change = torch.tensor([row])
    save_delta(tmp_path / "d", {"w": change}, {"w": torch.zeros_like(change)}, BASE)
    assert load_file(tmp_path / "d")["w:q8"].tolist() == [codes]
    _, restored = read_delta(tmp_path / "d", BASE)["w"]
    assert (restored - change).abs().max().item() == pytest.approx(error, abs=1e-6)
