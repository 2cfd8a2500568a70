"""DPR pairs give the vectors that the transformers library's own classes give; wrong pairs are refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from made_encoders import bert, dpr_pair, sentence_model

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.encoder import load_encoder
from spanwise.models.locate import model_digest

QUESTIONS = ["who built the mill", "when was the tram opened?"]
PASSAGES = ["The mill was built by Ada.", "the word mill", "A weir.", "tram " * 40]


@pytest.fixture(autouse=True)
def _in_float32(monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)


def inner_products(folder):
    """(questions, passages): those of the pooler outputs, text by text."""
    from transformers import AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder

    def vectors(kind, side, texts):
        model, tokenizer = kind.from_pretrained(folder / side), AutoTokenizer.from_pretrained(folder / side)
        with torch.inference_mode():
            rows = [tokenizer(text, truncation=True, max_length=64, return_tensors="pt") for text in texts]
            return torch.cat([model(**row).pooler_output for row in rows]).numpy()

    asked = vectors(DPRQuestionEncoder, "question", QUESTIONS)
    return asked, vectors(DPRContextEncoder, "passage", PASSAGES)


@pytest.mark.parametrize("projection_dim", [0, 8])
def test_cosines_are_the_inner_products_to_scale(tmp_path, projection_dim):
    asked, stored = inner_products(dpr_pair(tmp_path, projection_dim))
    encoder = load_encoder(str(tmp_path), device="cpu")
    cosines = encoder.encode_questions(QUESTIONS) @ encoder.encode_passages(PASSAGES).T
    scale = np.linalg.norm(asked, axis=1, keepdims=True) * encoder.passage.head.bound
    assert np.allclose(cosines * scale, asked @ stored.T, rtol=1e-5, atol=1e-4)
    assert encoder.width == (projection_dim or 32) + 1


def test_a_pair_may_be_named_by_its_two_folders(tmp_path):
    dpr_pair(tmp_path)
    named = f"{tmp_path / 'question'}::{tmp_path / 'passage'}"
    assert model_digest(named) == model_digest(str(tmp_path)) == load_encoder(named).digest


def test_sides_that_are_exchanged_are_refused(tmp_path):
    dpr_pair(tmp_path)
    with pytest.raises(ModelRejected, match="question encoder must be DPRQuestionEncoder"):
        load_encoder(f"{tmp_path / 'passage'}::{tmp_path / 'question'}")


@pytest.mark.parametrize("side", ["question", "passage"])
def test_one_side_alone_is_refused(tmp_path, side):
    dpr_pair(tmp_path)
    with pytest.raises(ModelRejected, match="--model QUESTION_FOLDER::PASSAGE_FOLDER"):
        load_encoder(str(tmp_path / side))


def test_the_readers_network_is_refused(tmp_path):
    from transformers import DPRConfig, DPRReader

    config = DPRConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    DPRReader(config).save_pretrained(tmp_path)
    with pytest.raises(ModelRejected, match="DPRReader"):
        load_encoder(str(tmp_path))


def test_sides_of_different_widths_are_refused(tmp_path):
    dpr_pair(tmp_path / "a", 8)
    dpr_pair(tmp_path / "b", 12)
    with pytest.raises(ModelRejected, match="have 9 numbers and those of passages 13"):
        load_encoder(f"{tmp_path / 'a'}::{tmp_path / 'b'}")


def test_sides_that_are_compared_differently_are_refused(tmp_path):
    dpr_pair(tmp_path / "a")
    bert(tmp_path / "b")
    with pytest.raises(ModelRejected, match="cosines and the other by inner products"):
        load_encoder(f"{tmp_path / 'a'}::{tmp_path / 'b'}")


@pytest.mark.parametrize("name", ["a::b::c", "::b", "a::", "::"])
def test_a_name_is_of_one_model_or_two(name):
    with pytest.raises(ModelRejected, match="expected one model or QUESTION::PASSAGE"):
        load_encoder(name)


def test_a_folder_with_one_side_is_no_model(tmp_path):
    bert(tmp_path / "question")
    with pytest.raises(ModelNotFound, match="not a model folder"):
        load_encoder(str(tmp_path))


def test_two_sentence_models_make_a_pair(tmp_path):
    one, two = sentence_model(tmp_path / "1", seed=1), sentence_model(tmp_path / "2", seed=2)
    pair = load_encoder(f"{one}::{two}")
    assert np.array_equal(pair.encode_questions(PASSAGES), load_encoder(str(one)).encode(PASSAGES))
    assert np.array_equal(pair.encode_passages(PASSAGES), load_encoder(str(two)).encode(PASSAGES))


@pytest.mark.promise("T10")
def test_the_published_checkpoints_are_pickles_and_refused(tmp_path):
    (tmp_path / "hf_bert_base.cp").write_bytes(b"\x80\x04")
    with pytest.raises(ModelRejected, match="pickle, which can run code: convert it"):
        load_encoder(str(tmp_path / "hf_bert_base.cp"))
