"""The own BERT against that of transformers, on tiny models with random weights."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import tiny_encoder, tiny_span_model

from spanwise.errors import ModelRejected
from spanwise.models.bert import Bert, BertConfig, BertSpanModel
from spanwise.models.load import load_span_model, load_span_reader
from spanwise.models.locate import CONFIG, WEIGHTS
from spanwise.models.pretrained import load_encoder_trunk


def batch():
    ids = torch.randint(1000, 20000, (3, 17), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, 9:] = 0
    types = torch.zeros_like(ids)
    types[:, 5:] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


@torch.inference_mode()
def test_states_are_those_of_transformers(tmp_path):
    from transformers import AutoModel

    ours = load_encoder_trunk(tiny_encoder(tmp_path))
    theirs = AutoModel.from_pretrained(tmp_path).eval()
    assert isinstance(ours, Bert)
    mask = batch()["attention_mask"].bool()
    found, expected = (model(**batch()).last_hidden_state[mask] for model in (ours, theirs))
    assert torch.allclose(found, expected, atol=1e-6)


@torch.inference_mode()
def test_span_logits_are_those_of_transformers(tmp_path):
    folder = tiny_span_model(tmp_path)
    ours, theirs = load_span_reader(folder), load_span_model(folder)
    assert isinstance(ours, BertSpanModel)
    mask = batch()["attention_mask"].bool()
    found, expected = ours(**batch()), theirs(**batch())
    assert torch.allclose(found.start_logits[mask], expected.start_logits[mask], atol=1e-6)
    assert torch.allclose(found.end_logits[mask], expected.end_logits[mask], atol=1e-6)


@torch.inference_mode()
def test_what_padding_holds_changes_nothing(tmp_path):
    model, inputs = load_encoder_trunk(tiny_encoder(tmp_path)), batch()
    before = model(**inputs).last_hidden_state[1, :9]
    inputs["input_ids"][1, 9:] = 7
    assert torch.equal(model(**inputs).last_hidden_state[1, :9], before)


SETTINGS = {
    "model_type": "bert",
    "vocab_size": 9,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 9,
}


@pytest.mark.parametrize(
    "setting",
    [
        {"model_type": "roberta"},
        {"hidden_act": "relu"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
        {"num_attention_heads": 3},
        {"num_attention_heads": 0},
        {"hidden_size": "8"},
        {"layer_norm_eps": None},
    ],
)
def test_any_other_model_is_left_to_transformers(setting):
    assert BertConfig.read(SETTINGS) is not None
    assert BertConfig.read(SETTINGS | setting) is None


def test_a_missing_size_is_left_to_transformers():
    assert BertConfig.read({name: SETTINGS[name] for name in SETTINGS if name != "hidden_size"}) is None


def test_an_encoder_is_taken_from_under_a_head(tmp_path):
    assert isinstance(load_encoder_trunk(tiny_span_model(tmp_path)), Bert)


@pytest.mark.promise("T10")
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(tmp_path, value):
    weights = load_file(tiny_encoder(tmp_path) / WEIGHTS)
    weights["embeddings.LayerNorm.bias"][3] = value
    save_file(weights, tmp_path / WEIGHTS, metadata={"format": "pt"})
    with pytest.raises(ModelRejected, match=r"embeddings\.LayerNorm\.bias is not finite"):
        load_encoder_trunk(tmp_path)


@pytest.mark.promise("T10")
@pytest.mark.parametrize("damage", [b"", b"\x80\x04 a pickle", b"\xff" * 64])
def test_damaged_weights_are_refused_by_name(tmp_path, damage):
    tiny_encoder(tmp_path)
    (tmp_path / WEIGHTS).write_bytes(damage)
    with pytest.raises(ModelRejected, match=WEIGHTS):
        load_encoder_trunk(tmp_path)


@pytest.mark.promise("T10")
@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
def test_damaged_settings_are_refused_by_name(tmp_path, text):
    tiny_encoder(tmp_path)
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(ModelRejected, match=CONFIG):
        load_encoder_trunk(tmp_path)


def test_weights_of_other_shapes_than_the_settings_say_are_refused(tmp_path):
    tiny_encoder(tmp_path)
    settings = json.loads((tmp_path / CONFIG).read_text())
    (tmp_path / CONFIG).write_text(json.dumps(settings | {"intermediate_size": 48}))
    with pytest.raises(ModelRejected):
        load_encoder_trunk(tmp_path)
