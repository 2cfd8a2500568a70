from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made_encoders import sentence_model

from spanwise.errors import ModelRejected
from spanwise.index.gate import check_vectors
from spanwise.models.encoder import load_encoder
from spanwise.models.inner_product import bound_of, passage_vectors, question_vectors

TEXTS = ["a mill", "the word", "A tram runs.", "weir " * 30]


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([1e-3, 1.0, 30.0]))
def test_the_order_is_that_of_the_inner_products(seed, width, length):
    draw = torch.Generator().manual_seed(seed)
    q, x = torch.randn(3, width, generator=draw), torch.randn(20, width, generator=draw)
    x *= length / x.norm(dim=1).max()
    asked, stored = question_vectors(q).numpy(), passage_vectors(x, 32.0).numpy()
    check_vectors(asked, width + 1, range(3))
    check_vectors(stored, width + 1, range(20))
    scale = q.norm(dim=1, keepdim=True).double().numpy() * 32.0
    expected = (q.double() @ x.double().T).numpy()
    assert np.allclose(asked.astype(float) @ stored.astype(float).T * scale, expected, rtol=1e-5, atol=1e-5)


def test_a_power_of_two_loses_no_bit():
    x = torch.randn(50, 8, generator=torch.Generator().manual_seed(1))
    assert torch.equal(passage_vectors(x, 64.0)[:, :-1] * 64.0, x)


def test_the_zero_vector_and_the_longest_one_are_unit_vectors():
    rows = passage_vectors(torch.tensor([[0.0, 0.0], [0.0, 4.0]]), 4.0)
    assert rows.tolist() == [[0, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("longest", [4.001, float("nan"), float("inf")])
def test_a_vector_beyond_the_bound_is_refused(longest):
    with pytest.raises(ModelRejected, match="the model's weights allow 4"):
        passage_vectors(torch.tensor([[0.0, longest]]), 4.0)


@pytest.mark.parametrize("pooling", ["mean", "cls", "weightedmean", "lasttoken"])
@pytest.mark.parametrize("layers", [(), ((8, "linear.Identity"),), ((8, "activation.Tanh"),)])
def test_no_vector_is_longer_than_the_weights_allow(tmp_path, pooling, layers):
    folder = sentence_model(tmp_path, pooling, layers, model={"similarity_fn_name": "dot"})
    encoder = load_encoder(str(folder), device="cpu")
    bound = encoder.passage.head.bound
    lengths = np.linalg.norm(encoder.encode_passages(TEXTS)[:, :-1], axis=1) * bound
    assert math.log2(bound).is_integer()
    assert bound / 64 < lengths.max() <= bound


def test_scores_are_the_dot_scores_of_sentence_transformers(tmp_path, monkeypatch):
    from sentence_transformers import SentenceTransformer

    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)
    folder = sentence_model(tmp_path, "cls", model={"similarity_fn_name": "dot"})
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    asked, stored = model.encode_query(TEXTS), model.encode_document(TEXTS)
    encoder = load_encoder(str(folder), device="cpu")
    scale = np.linalg.norm(asked, axis=1, keepdims=True) * encoder.passage.head.bound
    cosines = encoder.encode_questions(TEXTS) @ encoder.encode_passages(TEXTS).T
    assert np.allclose(cosines * scale, model.similarity(asked, stored).numpy(), rtol=1e-5, atol=1e-4)


def test_a_transformer_without_layer_normalisation_has_no_bound():
    trunk = torch.nn.Linear(4, 4)
    trunk.config = type("Config", (), {"hidden_size": 4})()
    with pytest.raises(ModelRejected, match="no layer normalisation"):
        bound_of(trunk, [])
