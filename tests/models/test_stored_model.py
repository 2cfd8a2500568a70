from __future__ import annotations

import pytest
import torch

from spanwise.errors import ModelRejected
from spanwise.models.checkpoint import read_checkpoint
from spanwise.models.locate import find_base
from spanwise.models.stored_model import save_tuned, tuned_trunk

CHANGED = "encoder.layer.3.output.dense.weight"


@pytest.fixture
def trunk():
    """The base with one matrix changed, in memory of its own."""
    trunk, _ = tuned_trunk()
    layer = trunk.encoder["layer"][3].output["dense"]
    torch.manual_seed(0)
    layer.weight = torch.nn.Parameter(layer.weight + 0.01 * torch.randn_like(layer.weight))
    return trunk


def test_without_a_file_it_is_the_base():
    trunk, added = tuned_trunk()
    base = read_checkpoint(find_base()).weights
    assert not added
    assert all(torch.equal(tensor, base[name]) for name, tensor in trunk.state_dict().items())


@pytest.mark.parametrize(("precision", "share"), [("int8", 1e-3), ("int4", 0.01)])
def test_a_trunk_and_its_head_survive(tmp_path, trunk, precision, share):
    head = {"head.weight": torch.randn(1, 384), "head.bias": torch.ones(1)}
    save_tuned(tmp_path / "new" / "d", trunk, head, precision)
    again, added = tuned_trunk(tmp_path / "new" / "d")
    assert {name: t.tolist() for name, t in added.items()} == {n: t.tolist() for n, t in head.items()}
    base, restored, tuned = read_checkpoint(find_base()).weights, again.state_dict(), trunk.state_dict()
    change, error = tuned[CHANGED] - base[CHANGED], restored[CHANGED] - tuned[CHANGED]
    assert error.square().sum() < share * change.square().sum()
    assert all(torch.equal(restored[name], tuned[name]) for name in tuned if name != CHANGED)


def test_the_readers_file_is_a_trunk_with_another_head():
    from spanwise.reader.load import DELTA, builtin_folder

    trunk, added = tuned_trunk(builtin_folder() / DELTA)
    assert {name: tuple(tensor.shape) for name, tensor in added.items()} == {
        "qa_outputs.weight": (2, 384),
        "qa_outputs.bias": (2,),
        "sentence_outputs.weight": (1, 384),
        "sentence_outputs.bias": (1,),
    }
    assert not torch.equal(trunk.state_dict()[CHANGED], read_checkpoint(find_base()).weights[CHANGED])


@pytest.mark.promise("T10")
def test_a_damaged_or_missing_file_is_refused(tmp_path):
    with pytest.raises(ModelRejected, match="cannot be read"):
        tuned_trunk(tmp_path / "nothing")
    (tmp_path / "d").write_bytes(b"\x80\x04 not safetensors")
    with pytest.raises(ModelRejected, match="cannot be read"):
        tuned_trunk(tmp_path / "d")


def test_a_file_of_something_else_is_refused():
    with pytest.raises(ModelRejected, match="format"):
        tuned_trunk(find_base() / "model.safetensors")
