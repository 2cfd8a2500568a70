"""Folders of sentence-transformers give here what that library makes of them; others are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from made_encoders import HIDDEN, bert, router_model, sentence_model, write

from spanwise.errors import ModelRejected
from spanwise.models.dual_encoder import DualEncoder
from spanwise.models.encoder import TextEncoder, load_encoder
from spanwise.models.sentence_config import prompt_of
from spanwise.models.sides import towers_of

TEXTS = ["a mill", "The brewery by the harbour was founded by two sisters.", "word " * 90, "", "A TRAM"]
PROMPTS = {"query": "question to answer: ", "document": "text: "}


@pytest.fixture(autouse=True)
def _in_float32(monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)


def library_model(folder):
    """What sentence-transformers loads."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def assert_equal_on_both_sides(folder):
    encoder, model = load_encoder(str(folder), device="cpu"), library_model(folder)
    questions, passages = model.encode_query(TEXTS), model.encode_document(TEXTS)
    assert np.allclose(encoder.encode_questions(TEXTS), unit(questions), atol=1e-5)
    assert np.allclose(encoder.encode_passages(TEXTS), unit(passages), atol=1e-5)
    return questions, passages


MODELS = {
    "mean": {"pooling": "mean"},
    "cls": {"pooling": "cls", "normalize": True},
    "sqrt": {"pooling": "mean_sqrt_len_tokens", "layers": ((8, "activation.Tanh"),)},
    "weighted": {"pooling": "weightedmean"},
    "last": {"pooling": "lasttoken"},
    "layers": {"layers": ((24, "activation.Tanh"), (8, "linear.Identity")), "normalize": True},
    "prompts": {"model": {"prompts": PROMPTS}, "pooling": "mean"},
    "prompts not pooled": {"model": {"prompts": PROMPTS}, "include_prompt": False},
    "prompts not pooled cls": {"model": {"prompts": PROMPTS}, "include_prompt": False, "pooling": "cls"},
    "prompts not pooled weighted": {
        "model": {"prompts": PROMPTS},
        "include_prompt": False,
        "pooling": "weightedmean",
    },
    "short": {"stated": {"max_seq_length": 12}},
    "lowercase": {"stated": {"do_lower_case": True}},
    "dot of unit vectors": {"model": {"similarity_fn_name": "dot"}, "normalize": True},
}


@pytest.mark.parametrize("kind", MODELS)
def test_vectors_are_those_of_sentence_transformers(tmp_path, kind):
    assert_equal_on_both_sides(sentence_model(tmp_path / "model", **MODELS[kind]))


def test_a_router_has_two_sides(tmp_path):
    questions, passages = assert_equal_on_both_sides(router_model(tmp_path))
    assert not np.allclose(questions, passages, atol=0.1)


def test_a_plain_transformer_is_pooled_by_its_mean(tmp_path):
    assert_equal_on_both_sides(bert(tmp_path))


def test_release_6_writes_what_is_read(tmp_path):
    from sentence_transformers import SentenceTransformer

    made = sentence_model(tmp_path / "made", normalize=True, model={"prompts": PROMPTS})
    SentenceTransformer(str(made), device="cpu").save_pretrained(str(tmp_path / "saved"))
    assert towers_of(str(tmp_path / "saved")) == towers_of(str(made))


@pytest.mark.parametrize(
    ("config", "question", "passage"),
    [
        ({}, "", ""),
        ({"prompts": {"query": "q ", "passage": "p "}}, "q ", "p "),
        ({"prompts": {"query": "q ", "document": "", "passage": "p "}}, "q ", ""),
        ({"prompts": {"query": "q ", "corpus": "c "}, "default_prompt_name": "query"}, "q ", "c "),
        ({"prompts": {"all": "a "}, "default_prompt_name": "all"}, "a ", "a "),
        ({"prompts": {"all": "a "}, "default_prompt_name": None}, "", ""),
        ({"prompts": None}, "", ""),
    ],
)
def test_each_side_has_its_prompt(config, question, passage):
    assert (prompt_of(config, "question"), prompt_of(config, "passage")) == (question, passage)


def test_the_passage_prompt_is_used(tmp_path):
    folder = sentence_model(tmp_path, model={"prompts": {"query": "q: ", "passage": "text: "}})
    expected = library_model(folder).encode(TEXTS, prompt="text: ", normalize_embeddings=True)
    assert np.allclose(load_encoder(str(folder)).encode_passages(TEXTS), expected, atol=1e-5)


def test_two_sides_share_one_transformer(tmp_path):
    encoder = load_encoder(str(sentence_model(tmp_path, model={"prompts": PROMPTS})))
    assert isinstance(encoder, DualEncoder)
    assert encoder.question.model is encoder.passage.model


def test_a_model_with_one_side_is_no_pair(tmp_path):
    assert isinstance(load_encoder(str(sentence_model(tmp_path))), TextEncoder)


def test_what_is_covered_does_not_count_the_prompt(tmp_path):
    prompts = {"document": PROMPTS["document"]}
    folder = sentence_model(tmp_path, model={"prompts": prompts}, stated={"max_seq_length": 12})
    n_prompt = 5  # the letters of "text", and ":"
    assert load_encoder(str(folder)).covered(["a " * 40, "short"]).tolist() == [2 * (10 - n_prompt) - 1, 5]


REFUSED = {
    "max": ({"pooling": "max"}, "pooling max"),
    "two poolings": ({"pooling": ["mean", "cls"]}, "mean and cls"),
    "euclidean": ({"model": {"similarity_fn_name": "euclidean"}}, "similarity euclidean"),
    "shortened": ({"model": {"truncate_dim": 8}}, "cut to 8"),
    "gelu": ({"layers": ((8, "activation.GELU"),)}, "activation torch.nn.modules.activation.GELU"),
    "no room": ({"stated": {"max_seq_length": 2}}, "limit of 2 tokens"),
    "long prompt": ({"model": {"prompts": {"query": "many words " * 40}}}, "prompt leaves no room"),
    "expansion": ({"stated": {"query_expansion": {"length": 32}}}, "query_expansion"),
    "masks": ({"stated": {"transformer_task": "fill-mask"}}, "transformer_task"),
    "dot of sums": (
        {"pooling": "mean_sqrt_len_tokens", "model": {"similarity_fn_name": "dot"}},
        "have no bound",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_known_is_refused_by_name(tmp_path, kind):
    changes, message = REFUSED[kind]
    folder = sentence_model(tmp_path, **changes)
    with pytest.raises(ModelRejected, match=message):
        load_encoder(str(folder))


@pytest.mark.parametrize(
    "kind", ["sentence_transformers.models.WordEmbeddings", "custom_st.Transformer", "os.system", "", None]
)
def test_modules_of_other_kinds_are_refused(tmp_path, kind):
    entries = json.loads((sentence_model(tmp_path) / "modules.json").read_text())
    write(tmp_path / "modules.json", [entries[0] | {"type": kind}, *entries[1:]])
    with pytest.raises(ModelRejected, match="is not known here"):
        load_encoder(str(tmp_path))


def test_modules_in_another_order_are_refused(tmp_path):
    entries = json.loads((sentence_model(tmp_path) / "modules.json").read_text())
    write(tmp_path / "modules.json", entries[::-1])
    with pytest.raises(ModelRejected, match="Pooling, Transformer; known are"):
        load_encoder(str(tmp_path))


def test_routes_of_another_kind_are_refused(tmp_path):
    config = json.loads((router_model(tmp_path) / "router_config.json").read_text())
    config["parameters"]["route_mappings"] = {"('query', 'text')": "document"}
    write(tmp_path / "router_config.json", config)
    with pytest.raises(ModelRejected, match="no plain route"):
        load_encoder(str(tmp_path))


def test_layers_that_do_not_fit_are_refused(tmp_path):
    folder = sentence_model(tmp_path, layers=((8, "linear.Identity"),))
    config = json.loads((folder / "2_Dense" / "config.json").read_text())
    write(folder / "2_Dense" / "config.json", config | {"in_features": HIDDEN + 1})
    with pytest.raises(ModelRejected, match="do not fit"):
        load_encoder(str(folder))
