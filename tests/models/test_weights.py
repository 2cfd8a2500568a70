"""Differences from the base: their precision, their round trip, and damaged files."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import changed_base, layer, student
from torch import nn

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.load import tuned_backbone
from spanwise.models.model_files import BASE_SHA256, STUDENT, WEIGHTS, find_base
from spanwise.models.numpy_bert import DELTA_FORMAT
from spanwise.models.student import load_student
from spanwise.models.weights import (
    apply_delta,
    read_checkpoint,
    read_delta,
    save_delta,
    save_mean,
    save_tuned,
)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.frozen, self.tuned, self.head = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(4, 2)


def tuned_and_base():
    base, tuned = Model(), Model()
    with torch.no_grad():
        tuned.tuned.weight += 0.01 * torch.randn(4, 8)
        tuned.tuned.weight[1] = base.tuned.weight[1]
        tuned.tuned.bias += 0.5
    state = {name: tensor for name, tensor in base.state_dict().items() if not name.startswith("head")}
    return tuned, state


def test_a_round_trip_restores_the_weights_to_the_stated_error(tmp_path):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base)
    restored, stored = Model(), read_delta(tmp_path / "d")
    apply_delta(restored, tmp_path / "d")
    change = (tuned.tuned.weight - base["tuned.weight"]).abs().amax(dim=1, keepdim=True)
    assert bool(((restored.tuned.weight - tuned.tuned.weight).abs() <= change / 254 + 1e-7).all())
    assert torch.allclose(restored.tuned.bias, tuned.tuned.bias, atol=1e-6)
    assert set(stored) == {"tuned.weight", "tuned.bias", "head.weight", "head.bias"}
    assert not stored["tuned.weight"][1][1].any()


def test_int8_codes_of_a_row_by_its_largest_change(tmp_path):
    change = torch.tensor([[0.5, -1.2, 3.4, 2.1, -0.7, 1.8, 0.0, 4.6, -2.3, 1.1]])
    codes = [14, -33, 94, 58, -19, 50, 0, 127, -64, 30]  # -63.5 is a tie: to the even one
    save_delta(tmp_path / "d", {"w": change}, {"w": torch.zeros_like(change)})
    assert load_file(tmp_path / "d")["w:q8"].tolist() == [codes]
    _, restored = read_delta(tmp_path / "d")["w"]
    assert (restored - change).abs().max().item() == pytest.approx(0.018110, abs=1e-6)


def test_a_mean_weighs_each_file_by_its_share(tmp_path):
    base = {"a": torch.ones(2, 2), "b": torch.ones(2)}
    for name, changed in (("one", {"a": torch.full((2, 2), 5.0)}), ("two", {"b": torch.full((2,), 3.0)})):
        save_delta(tmp_path / name, {**base, **changed, "head": changed.get("b", torch.ones(2))}, base)
    save_mean(tmp_path / "mean", {tmp_path / "one": 3, tmp_path / "two": 1})
    found = {name: tensor.flatten().tolist() for name, (_, tensor) in read_delta(tmp_path / "mean").items()}
    assert found == {"a": [3.0] * 4, "b": [0.5] * 2, "head": [1.5] * 2}
    save_delta(tmp_path / "other", base, base)
    with pytest.raises(ModelRejected, match="do not have the same weight head"):
        save_mean(tmp_path / "mean", {tmp_path / "one": 1, tmp_path / "other": 1})


@pytest.mark.promise("T10")
@pytest.mark.parametrize(
    "damage",
    [
        {"w:scale": torch.ones(2)},
        {"w:q8": torch.zeros(3, 5, dtype=torch.int8)},
        {"w:q5": torch.zeros(96, dtype=torch.uint8)},
        {"w:scale": None},
    ],
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path, damage):
    save_delta(tmp_path / "d", {"w": torch.randn(4, 40)}, {"w": torch.zeros(4, 40)})
    tensors = {key: t for key, t in {**load_file(tmp_path / "d"), **damage}.items() if t is not None}
    save_file(tensors, tmp_path / "e", metadata={"format": DELTA_FORMAT, "base_sha256": BASE_SHA256})
    with pytest.raises(ModelRejected, match="do not fit together"):
        read_delta(tmp_path / "e")


@pytest.mark.promise("T10")
def test_foreign_and_damaged_files_are_refused(tmp_path, monkeypatch):
    tuned, base = tuned_and_base()
    save_delta(tmp_path / "d", tuned.state_dict(), base)
    monkeypatch.setattr("spanwise.models.weights.BASE_SHA256", "c" * 64)
    with pytest.raises(ModelRejected, match="not made for the base"):
        apply_delta(Model(), tmp_path / "d")
    monkeypatch.undo()
    with pytest.raises(ModelRejected, match="does not fit"):
        apply_delta(nn.Linear(2, 2), tmp_path / "d")
    with pytest.raises(ModelRejected, match="has the format 'pt'"):
        tuned_backbone(find_base() / WEIGHTS)
    (tmp_path / "d").write_bytes(b"\x80\x04 not safetensors")
    with pytest.raises(ModelRejected, match="cannot be read"):
        apply_delta(Model(), tmp_path / "d")


def test_a_backbone_and_its_head_survive(tmp_path):
    head = {"head.weight": torch.randn(1, 384), "head.bias": torch.ones(1)}
    tuned, base = changed_base().state_dict(), read_checkpoint(find_base()).weights
    save_tuned(tmp_path / "new" / "d", changed_base(), head)
    again, added = tuned_backbone(tmp_path / "new" / "d")
    assert {name: t.tolist() for name, t in added.items()} == {n: t.tolist() for n, t in head.items()}
    assert all(torch.allclose(weight, tuned[name]) for name, weight in again.state_dict().items())
    assert all(torch.equal(weight, base[name]) for name, weight in tuned_backbone()[0].state_dict().items())


def test_a_student_survives_and_leaves_other_files(tmp_path):
    (tmp_path / "train.csv").write_text("step")
    stored = load_student(student(tmp_path, max_length=40))
    assert torch.equal(stored.projection.weight, layer(16, 12).weight)
    assert torch.equal(stored.question_head.bias, layer(384, 10).bias)
    assert stored.settings.max_length == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["settings.json", STUDENT, "train.csv"]


@pytest.mark.promise("T10")
def test_a_student_of_two_halves_is_refused(tmp_path):
    one, other = student(tmp_path / "1"), student(tmp_path / "2", seed=1)
    with pytest.raises(ModelNotFound, match="there is no student"):
        load_student(tmp_path)
    (one / "settings.json").write_bytes((other / "settings.json").read_bytes())
    with pytest.raises(ModelRejected, match="has sha256"):
        load_student(one)
