"""What is no cross-encoder, or asks for what is not known, is refused by name before it is loaded."""

from __future__ import annotations

import pytest
from made_cross_encoders import classifier, sentence_classifier, with_config
from made_encoders import bert, sentence_model, write

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.cross_encoder import MAX_LENGTH
from spanwise.models.cross_encoder_models import pair_model_of


@pytest.mark.parametrize("number", [2, 3])
def test_a_model_with_more_outputs_is_refused(tmp_path, number):
    with pytest.raises(ModelRejected, match=f"{number} outputs, a cross-encoder has one"):
        pair_model_of(str(classifier(tmp_path, num_labels=number)))


def test_encoders_are_no_cross_encoders(tmp_path):
    with pytest.raises(ModelRejected, match="is no cross-encoder"):
        pair_model_of(str(bert(tmp_path / "plain")))
    with pytest.raises(ModelRejected, match="known are Transformer"):
        pair_model_of(str(sentence_model(tmp_path / "sentences")))


@pytest.mark.parametrize("name", ["linear.Identity", "activation.Sigmoid", "activation.Tanh"])
def test_an_activation_that_keeps_the_order_is_left_out(tmp_path, name):
    activation = f"torch.nn.modules.{name}"
    assert pair_model_of(str(sentence_classifier(tmp_path, {"activation_fn": activation}))).max_length is None


@pytest.mark.parametrize("name", ["torch.nn.modules.activation.ReLU", "os.system", "Sigmoid", 3])
def test_other_activations_are_refused(tmp_path, name):
    classifier(tmp_path)
    for changes in (
        {"sbert_ce_default_activation_function": name},
        {"sbert_ce_default_activation_function": None, "sentence_transformers": {"activation_fn": name}},
    ):
        with pytest.raises(ModelRejected, match="the activation is"):
            pair_model_of(str(with_config(tmp_path, **changes)))


def test_a_default_prompt_is_refused_and_others_are_not_used(tmp_path):
    prompts = {"prompts": {"query": "Q: "}, "default_prompt_name": None}
    pair_model_of(str(sentence_classifier(tmp_path / "a", prompts)))
    with pytest.raises(ModelRejected, match="its default prompt is 'query'"):
        pair_model_of(str(sentence_classifier(tmp_path / "b", prompts | {"default_prompt_name": "query"})))


def test_the_least_limit_is_taken(tmp_path):
    folder = sentence_classifier(tmp_path, stated={"max_seq_length": 90, "do_lower_case": True})
    found = pair_model_of(str(folder))
    assert (found.max_length, found.lowercase) == (90, True)
    assert MAX_LENGTH == 384


def test_other_tasks_of_the_transformer_are_refused(tmp_path):
    folder = sentence_classifier(tmp_path, stated={"transformer_task": "text-generation"})
    with pytest.raises(ModelRejected, match="transformer_task is 'text-generation'"):
        pair_model_of(str(folder))


def test_code_of_its_own_is_refused(tmp_path):
    with pytest.raises(ModelRejected, match="never run"):
        pair_model_of(str(with_config(classifier(tmp_path), auto_map={"AutoModel": "evil.py"})))


def test_pickles_are_refused(tmp_path):
    folder = classifier(tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelRejected, match="no safetensors weights"):
        pair_model_of(str(folder))


def test_several_modules_are_refused(tmp_path):
    folder = sentence_classifier(tmp_path)
    write(folder / "modules.json", [])
    with pytest.raises(ModelRejected, match="lists 0 modules"):
        pair_model_of(str(folder))


def test_a_name_of_nothing_is_not_found():
    with pytest.raises(ModelNotFound, match="name@revision"):
        pair_model_of("cross-encoder/none")
