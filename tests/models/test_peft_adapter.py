"""Adapters in PEFT's files: written, merged into their base, refused where they mean something else."""

from __future__ import annotations

import json
import math

import pytest
import torch
from made_readers import question_answerer
from safetensors.torch import load_file, save_file

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.locate import BASE_HUB_NAME, BASE_REVISION, find_base
from spanwise.models.lora import Lora, add_updates, merge_updates, updates
from spanwise.models.peft_adapter import adapter_base, merge_adapter, save_adapter
from spanwise.models.pretrained import load_span_model
from spanwise.models.training import own_memory
from spanwise.reader.load import load_reader

QUERY = "base_model.model.bert.encoder.layer.0.attention.self.query"


@pytest.fixture
def base(tmp_path):
    return question_answerer(tmp_path / "base")


@pytest.fixture
def adapter(tmp_path, base):
    """An adapter that was trained: the folder, and the model it was saved from."""
    model = own_memory(load_span_model(base))
    add_updates(model, Lora(2, 6.0))
    with torch.no_grad():
        for parameter in [*model.qa_outputs.parameters(), *(u.lora_B for u in updates(model).values())]:
            parameter.normal_()
    save_adapter(tmp_path / "adapter", model, str(base), Lora(2, 6.0), ["qa_outputs"])
    return tmp_path / "adapter", model


def changed(folder, **settings):
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    return folder


def merged(base, folder):
    model = own_memory(load_span_model(base))
    merge_adapter(model, folder)
    return model


def test_the_files_are_those_of_peft(adapter):
    folder, _ = adapter
    names = set(load_file(folder / "adapter_model.safetensors"))
    assert {f"{QUERY}.lora_A.weight", f"{QUERY}.lora_B.weight", "base_model.model.qa_outputs.bias"} <= names
    config = json.loads((folder / "adapter_config.json").read_text())
    assert (config["peft_type"], config["task_type"]) == ("LORA", "QUESTION_ANS")
    assert (config["r"], config["lora_alpha"], config["target_modules"]) == (2, 6.0, ["query", "value"])


def test_what_is_loaded_is_what_was_saved(base, adapter):
    folder, model = adapter
    merge_updates(model)
    found = merged(base, folder).state_dict()
    assert all(torch.allclose(found[name], own, atol=1e-6) for name, own in model.state_dict().items())


def test_a_reader_reads_as_its_adapter_merged(base, adapter, tmp_path):
    folder, model = adapter
    merge_updates(model)
    model.save_pretrained(tmp_path / "whole")
    for path in base.glob("*token*"):
        (tmp_path / "whole" / path.name).write_bytes(path.read_bytes())
    one, other = load_reader(str(folder), "cpu"), load_reader(str(tmp_path / "whole"), "cpu")
    for name, tensor in other.model.state_dict().items():
        assert torch.allclose(one.model.state_dict()[name], tensor, atol=1e-6)
    assert one.digest != other.digest


def test_rank_stabilised_updates_are_scaled_by_the_root(base, adapter):
    folder, _ = adapter
    plain = merged(base, folder).bert.encoder.layer[0].attention.self.query.weight
    stable = merged(base, changed(folder, use_rslora=True)).bert.encoder.layer[0].attention.self.query.weight
    start = load_span_model(base).bert.encoder.layer[0].attention.self.query.weight
    assert torch.allclose(stable - start, (plain - start) * math.sqrt(2), atol=1e-6)


def test_a_head_named_as_older_files_do_is_taken(base, adapter):
    folder, model = adapter
    path = folder / "adapter_model.safetensors"
    old = {
        name.replace("qa_outputs.", "qa_outputs.modules_to_save."): t for name, t in load_file(path).items()
    }
    save_file(old, path)
    assert torch.equal(merged(base, folder).qa_outputs.weight, model.qa_outputs.weight)


def test_a_base_inside_the_folder_is_found(adapter, base):
    folder, _ = adapter
    base.rename(folder / "inner")
    assert adapter_base(changed(folder, base_model_name_or_path="inner")) == folder / "inner"


def test_the_builtin_base_is_named_as_its_hub_does(adapter):
    folder, model = adapter
    save_adapter(folder, model, "base", Lora(2, 6.0), ["qa_outputs"])
    config = json.loads((folder / "adapter_config.json").read_text())
    assert (config["base_model_name_or_path"], config["revision"]) == (BASE_HUB_NAME, BASE_REVISION)
    assert adapter_base(folder) == find_base()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"use_dora": True}, "use_dora is True"),
        ({"lora_bias": True}, "lora_bias is True"),
        ({"rank_pattern": {"query": 4}}, "rank_pattern is"),
        ({"bias": "all"}, "bias is 'all'"),
        ({"peft_type": "IA3"}, "peft_type is 'IA3'"),
        ({"r": 4}, "its weights are of rank 2"),
        ({"lora_alpha": "much"}, "lora_alpha 'much'"),
    ],
)
def test_settings_that_mean_something_else_are_refused(base, adapter, settings, says):
    with pytest.raises(ModelRejected, match=says):
        merged(base, changed(adapter[0], **settings))


@pytest.mark.parametrize(
    "name",
    [f"{QUERY}.lora_magnitude_vector", "base_model.model.bert.nowhere.weight", f"{QUERY}.lora_B.weight"],
)
def test_weights_of_another_kind_are_refused(base, adapter, name):
    path = adapter[0] / "adapter_model.safetensors"
    kept = {n: t for n, t in load_file(path).items() if n != f"{QUERY}.lora_A.weight"}
    save_file(kept | {name: torch.zeros(16, 2)}, path)
    with pytest.raises(ModelRejected, match=r"is not known here|does not fit the model"):
        merged(base, adapter[0])


def test_an_adapter_over_a_trunk_without_any_head_is_refused(tmp_path, adapter):
    folder, _ = adapter
    question_answerer(tmp_path / "trunk", head="")
    path = folder / "adapter_model.safetensors"
    save_file({name: t for name, t in load_file(path).items() if "qa_outputs" not in name}, path)
    with pytest.raises(ModelRejected, match="neither it nor its base"):
        load_reader(str(changed(folder, base_model_name_or_path=str(tmp_path / "trunk"))))


def test_a_base_that_is_not_there_is_named(adapter):
    with pytest.raises(ModelNotFound, match="someone/else"):
        load_reader(str(changed(adapter[0], base_model_name_or_path="someone/else")))
