"""Which folders are models that write, and which are refused, by what name."""

from __future__ import annotations

import json

import pytest
import torch
from made_generators import FAMILIES, writer
from made_readers import question_answerer
from safetensors.torch import load_file, save_file

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.generative import end_tokens, start_tokens
from spanwise.reader.generation.transformers_generator import load_generator


@pytest.fixture
def folder(tmp_path):
    return writer(tmp_path / "model", "GPT2")


def changed(path, **settings):
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def reweighed(folder, change):
    path = folder / "model.safetensors"
    weights = load_file(path)
    change(weights)
    save_file(weights, path, metadata={"format": "pt"})


@pytest.mark.parametrize("family", ["Bert", "Roberta", "DistilBert"])
@pytest.mark.parametrize("head", ["QuestionAnswering", "MaskedLM"])
def test_a_model_that_only_reads_is_refused(tmp_path, family, head):
    with pytest.raises(ModelRejected, match=rf"{family.lower()}, which reads and does not write"):
        load_generator(str(question_answerer(tmp_path, family, head)), "cpu")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_missing_weight_is_refused(tmp_path, family):
    folder = writer(tmp_path, family)
    reweighed(folder, lambda weights: weights.pop(sorted(weights)[-2]))
    with pytest.raises(ModelRejected, match="lacks 1 of its weights"):
        load_generator(str(folder), "cpu")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(folder, value):
    def spoil(weights):
        next(iter(weights.values())).view(-1)[0] = value

    reweighed(folder, spoil)
    with pytest.raises(ModelRejected, match="not finite"):
        load_generator(str(folder), "cpu")


def test_pickles_are_refused(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelRejected, match="no safetensors"):
        load_generator(str(folder), "cpu")


def test_code_of_a_folder_is_refused(folder):
    changed(folder / "config.json", auto_map={"AutoModelForCausalLM": "code.Model"})
    with pytest.raises(ModelRejected, match="code of its own"):
        load_generator(str(folder), "cpu")


def test_a_folder_without_a_tokenizer_is_refused(folder):
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelRejected, match="no tokenizer"):
        load_generator(str(folder), "cpu")


def test_a_tokenizer_of_more_words_than_the_model_is_refused(folder, tmp_path):
    small = writer(tmp_path / "small", "GPT2", vocab_size=100)
    with pytest.raises(ModelRejected, match="its vocabulary has 100 words"):
        load_generator(str(small), "cpu")


def test_a_name_without_a_commit_is_not_found():
    with pytest.raises(ModelNotFound, match="name@revision"):
        load_generator("google/flan-t5-small", "cpu")


def test_the_digest_names_weights_and_words(folder):
    before = load_generator(str(folder), "cpu").digest
    assert load_generator(str(folder), "cpu").digest == before
    changed(folder / "tokenizer_config.json", model_max_length=77)
    after = load_generator(str(folder), "cpu")
    assert after.digest != before
    assert after.room == 77
    reweighed(folder, lambda weights: next(iter(weights.values())).mul_(1.5))
    assert load_generator(str(folder), "cpu").digest not in (before, after.digest)


def test_all_end_tokens_count(folder):
    changed(folder / "generation_config.json", eos_token_id=[5, 7])
    made = load_generator(str(folder), "cpu")
    assert end_tokens(made._model, made._tokenizer) == {1, 5, 7}


def test_a_text_begins_as_the_folder_says(tmp_path):
    folder = writer(tmp_path, "Bart")
    changed(folder / "generation_config.json", forced_bos_token_id=2)
    made = load_generator(str(folder), "cpu")
    assert start_tokens(made._model, folder) == (1, 2)


def test_a_folder_that_does_not_say_how_a_text_begins_is_refused(tmp_path):
    folder = writer(tmp_path, "T5", decoder_start_token_id=None)
    with pytest.raises(ModelRejected, match="decoder_start_token_id"):
        load_generator(str(folder), "cpu")


def test_nothing_is_to_be_learnt(folder):
    made = load_generator(str(folder), "cpu")
    assert not made._model.training
    assert not any(weight.requires_grad for weight in made._model.parameters())
    assert {weight.dtype for weight in made._model.parameters()} == {torch.float32}
