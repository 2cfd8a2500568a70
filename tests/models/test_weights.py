"""Delta files and quantised models: the error of each weight, their round trip, and damaged files."""

import pytest
import torch
from helpers.tiny_models import changed_base
from hypothesis import given, strategies as st
from safetensors.torch import load_file, save_file
from torch import nn

from spanwise.errors import ModelRejected
from spanwise.models.load import tuned_backbone
from spanwise.models.model_files import BASE_SHA256, WEIGHTS, find_base
from spanwise.models.numpy_bert import DELTA_FORMAT, read_delta
from spanwise.models.weights import (
    RANK,
    Checkpoint,
    from_groups,
    quantized_groups,
    quantized_rows,
    read_checkpoint,
    read_quantized,
    save_delta,
    save_mean,
    save_quantized,
    save_retrained,
    save_tuned,
    tuned_weights,
)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.frozen = nn.Linear(8, 8)
        self.tuned = nn.Linear(8, 4)
        self.head = nn.Linear(4, 2)


def tuned_and_base():
    base = Model()
    tuned = Model()
    with torch.no_grad():
        tuned.tuned.weight += 0.01 * torch.randn(4, 8)
        tuned.tuned.weight[1] = base.tuned.weight[1]
        tuned.tuned.bias += 0.5
    state = {name: tensor for name, tensor in base.state_dict().items() if not name.startswith("head")}
    return tuned, state


def matrix(seed: int, rows: int, columns: int, size: float) -> torch.Tensor:
    return size * torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))


matrices = st.builds(
    matrix,
    st.integers(0, 999),
    st.integers(1, 9),
    st.integers(1, 70),
    st.sampled_from([0.0, 1e-9, 1e-5, 1.0, 1e6]),
)


def test_a_round_trip_restores_the_weights_to_the_stated_error(tmp_path):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base)
    restored = Model()
    restored.load_state_dict(tuned_weights(restored.state_dict(), tmp_path / "d"))
    change = (tuned.tuned.weight - base["tuned.weight"]).abs().amax(dim=1, keepdim=True)
    assert bool(((restored.tuned.weight - tuned.tuned.weight).abs() <= change / 254 + 1e-7).all())
    assert torch.allclose(restored.tuned.bias, tuned.tuned.bias, atol=1e-6)
    stored = read_delta(tmp_path / "d")
    assert set(stored) == {"tuned.weight", "tuned.bias", "head.weight", "head.bias"}
    assert not stored["tuned.weight"].values[1].any()


def test_the_largest_change_of_a_row_has_the_largest_code(tmp_path):
    change = torch.tensor([[0.5, -1.2, 3.4, 2.1, -0.7, 1.8, 0.0, 4.6, -2.3, 1.1]])
    codes = [14, -33, 94, 58, -19, 50, 0, 127, -64, 30]  # -63.5 is a tie, rounded to even
    save_delta(tmp_path / "d", {"w": change}, {"w": torch.zeros_like(change)})
    assert load_file(tmp_path / "d")["w:q8"].tolist() == [codes]
    restored = read_delta(tmp_path / "d")["w"].values
    assert abs(restored - change.numpy()).max() == pytest.approx(0.018110, abs=1e-6)


def test_a_mean_weighs_each_file_by_its_share(tmp_path):
    base = {"a": torch.ones(2, 2), "b": torch.ones(2)}
    for name, changed in (("one", {"a": torch.full((2, 2), 5.0)}), ("two", {"b": torch.full((2,), 3.0)})):
        save_delta(tmp_path / name, {**base, **changed, "head": changed.get("b", torch.ones(2))}, base)
    save_mean(tmp_path / "mean", {tmp_path / "one": 3, tmp_path / "two": 1})
    mean = {name: weight.values.flatten().tolist() for name, weight in read_delta(tmp_path / "mean").items()}
    assert mean == {"a": [3.0] * 4, "b": [0.5] * 2, "head": [1.5] * 2}
    save_delta(tmp_path / "other", base, base)
    with pytest.raises(ModelRejected, match="do not have the same weight head"):
        save_mean(tmp_path / "mean", {tmp_path / "one": 1, tmp_path / "other": 1})


@pytest.mark.promise("T10")
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"w:scale": torch.ones(2)}, "w:q8 lacks its scale, or their shapes do not fit"),
        ({"w:q8": torch.zeros(3, 5, dtype=torch.int8)}, "w:q8 lacks its scale, or their shapes do not fit"),
        ({"w:scale": None}, "w:q8 lacks its scale"),
        ({"w:q5": torch.zeros(96, dtype=torch.uint8)}, "w:q5 is of an unknown kind"),
        ({"b:new": torch.zeros(9, dtype=torch.bfloat16)}, "cannot be read"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path, damage, message):
    save_delta(tmp_path / "d", {"w": torch.randn(4, 40)}, {"w": torch.zeros(4, 40)})
    tensors = {key: t for key, t in {**load_file(tmp_path / "d"), **damage}.items() if t is not None}
    save_file(tensors, tmp_path / "e", metadata={"format": DELTA_FORMAT, "base_sha256": BASE_SHA256})
    with pytest.raises(ModelRejected, match=message):
        read_delta(tmp_path / "e")


@pytest.mark.promise("T10")
def test_files_for_another_base_and_damaged_files_are_refused(tmp_path, monkeypatch):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base)
    monkeypatch.setattr("spanwise.models.numpy_bert.BASE_SHA256", "c" * 64)
    with pytest.raises(ModelRejected, match="not made for the base"):
        tuned_weights(Model().state_dict(), tmp_path / "d")
    monkeypatch.undo()
    with pytest.raises(ModelRejected, match="does not fit"):
        tuned_weights(nn.Linear(2, 2).state_dict(), tmp_path / "d")
    with pytest.raises(ModelRejected, match="has the format 'pt'"):
        tuned_backbone(find_base() / WEIGHTS)
    (tmp_path / "d").write_bytes(b"\x80\x04 not safetensors")
    with pytest.raises(ModelRejected, match="cannot be read"):
        tuned_weights(Model().state_dict(), tmp_path / "d")


def test_a_backbone_and_its_head_survive(tmp_path):
    head = {"head.weight": torch.randn(1, 384), "head.bias": torch.ones(1)}
    tuned = changed_base().state_dict()
    save_tuned(tmp_path / "new" / "d", changed_base(), head)
    restored, added = tuned_backbone(tmp_path / "new" / "d")
    assert {name: t.tolist() for name, t in added.items()} == {n: t.tolist() for n, t in head.items()}
    assert all(torch.allclose(weight, tuned[name]) for name, weight in restored.state_dict().items())


def test_without_a_delta_file_the_backbone_is_the_base():
    base = read_checkpoint(find_base()).weights
    backbone, added = tuned_backbone()
    assert all(torch.equal(weight, base[name]) for name, weight in backbone.state_dict().items())
    assert added == {}


@given(matrices)
def test_eight_bits_err_by_half_a_step_of_their_row(weights):
    q, scale = quantized_rows(weights)
    assert ((q.float() * scale - weights).abs() <= scale / 2 * 1.001).all()


def test_four_bits_lie_two_in_a_byte_and_err_by_a_fifteenth_of_their_group():
    weights = torch.randn(8, 64, generator=torch.Generator().manual_seed(3))
    packed, scales = quantized_groups(weights)
    assert packed.shape == (8, 32)
    assert scales.shape == (8, 2)
    groups = weights.reshape(-1, 32)
    errors = (from_groups(packed, scales).float() - weights).reshape(-1, 32).abs()
    assert (errors.square().mean(1) < (groups.abs().amax(1) / 15).square()).all()


def test_large_matrices_have_four_bits_and_heads_all(tmp_path):
    weights = {"layer": torch.randn(512, 256), "head": torch.randn(5, 256), "bias": torch.randn(5)}
    save_quantized(tmp_path / "q", Checkpoint({"hidden_size": 256}, weights), bits=4)
    assert (tmp_path / "q").stat().st_size < 512 * 256 * 0.6 + 8_000
    restored = read_quantized(tmp_path / "q").weights
    assert torch.equal(restored["head"], weights["head"])
    assert torch.equal(restored["bias"], weights["bias"])
    assert restored["layer"].dtype == torch.bfloat16
    assert float((restored["layer"].float() - weights["layer"]).abs().mean()) < 0.12


def test_training_from_four_bits_is_not_rounded_away(tmp_path):
    save_quantized(tmp_path / "start", Checkpoint({}, {"layer": matrix(3, 512, 256, 1.0)}), bits=4)
    before = read_quantized(tmp_path / "start").weights["layer"]
    change = 0.02 * matrix(5, 512, RANK, 0.2) @ matrix(6, RANK, 256, 1.0)
    tuned = before + change
    for rounded in ("start", "again"):
        save_retrained(tmp_path / "again", {"layer": tuned}, tmp_path / rounded)
        restored = read_quantized(tmp_path / "again").weights["layer"]
        assert (restored - tuned).norm() < 0.2 * change.norm()


def test_a_quantised_file_restores_settings_vectors_and_matrices(tmp_path):
    weights = {"a.weight": matrix(1, 40, 50, 1.0), "a.bias": torch.arange(3.0), "small": matrix(2, 2, 2, 1.0)}
    save_quantized(tmp_path / "w", Checkpoint({"hidden_size": 3}, weights))
    restored = read_quantized(tmp_path / "w")
    assert restored.config == {"hidden_size": 3}
    assert restored.weights.keys() == weights.keys()
    assert torch.equal(restored.weights["a.bias"], weights["a.bias"])
    assert torch.equal(restored.weights["small"], weights["small"])
    large = weights["a.weight"]
    assert (restored.weights["a.weight"] - large).norm() < 0.01 * large.norm()
    assert (tmp_path / "w").stat().st_size < 2000 * 1.3 + 1000


def test_damaged_quantised_files_are_refused_by_name(tmp_path):
    save_quantized(tmp_path / "w", Checkpoint({}, {"a": matrix(1, 40, 50, 1.0)}))
    whole = (tmp_path / "w").read_bytes()
    for damaged in (whole[:-9], whole.replace(b"spanwise-quantized-1", b"spanwise-quantized-2"), b""):
        (tmp_path / "w").write_bytes(damaged)
        with pytest.raises(ModelRejected, match=str(tmp_path / "w")):
            read_quantized(tmp_path / "w")
