"""The first questions of a process are computed in numpy, and come out as torch computes them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from spanwise.errors import ModelRejected
from spanwise.models import cold_start as first
from spanwise.models import token_encoder
from spanwise.models.batching import PackedTokens
from spanwise.models.bert import bert_span_model
from spanwise.models.cold_start import FirstScores, FirstTokenEncoder
from spanwise.models.model_files import BASE_SHA256, BUILTIN, READER, builtin_folder, find_base
from spanwise.models.numpy_bert import DELTA_FORMAT, NumpyBert, gelu, tuned_arrays
from spanwise.models.weights import Checkpoint, read_checkpoint, tuned_weights
from spanwise.postponed import PostponedImport
from spanwise.reader.load import load_reader
from spanwise.reader.span_reader import SpanScores

TEXTS = ["Who built the mill?", "mill", "", "How many boats sail to the island on a Sunday in winter? " * 4]


@pytest.fixture(autouse=True)
def exact(float32: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """float32, and torch counts as not imported."""
    monkeypatch.setattr(first, "TORCH", PostponedImport("not imported", 10_000))


@pytest.fixture(scope="module")
def reader_model() -> torch.nn.Module:
    checkpoint = read_checkpoint(find_base())
    backbone = {f"bert.{name}": tensor for name, tensor in checkpoint.weights.items()}
    weights = tuned_weights(backbone, builtin_folder("reader") / READER)
    model = bert_span_model(Checkpoint(checkpoint.config, weights))
    assert model is not None
    return model


def test_a_postponed_import_is_worth_it_once_the_budget_is_spent() -> None:
    absent = PostponedImport("not imported", 10)
    assert [absent.is_worth(n) for n in (6, 4, 0, 1)] == [False, False, False, True]
    assert PostponedImport("sys", 10).is_worth(1)


def test_gelu_is_that_of_the_error_function() -> None:
    x = np.linspace(-9, 9, 4001, dtype=np.float32)
    exact = np.array([v / 2 * math.erfc(-v / math.sqrt(2)) for v in x.tolist()])
    assert np.abs(gelu(x[np.newaxis].copy())[0] - exact).max() < 1e-6


def test_scores_are_those_of_torch(reader_model: torch.nn.Module) -> None:
    random = np.random.default_rng(0)
    rows = [random.integers(1000, 29_000, n).tolist() for n in (1, 7, 130, 384)]
    tokens = PackedTokens.of(rows)
    tokens.types[9:] = 1
    found = FirstScores(NumpyBert.over_base(builtin_folder("reader") / READER), lambda: None)(tokens)
    assert found.shape == (522, 7)
    assert found == pytest.approx(SpanScores(reader_model)(tokens), abs=2e-4)


def test_questions_are_encoded_as_by_torch_until_the_budget_is_spent(monkeypatch) -> None:
    whole = token_encoder.load_token_encoder(BUILTIN)
    encoder = first.load_token_encoder(BUILTIN)
    assert isinstance(encoder, FirstTokenEncoder)
    assert (encoder.digest, encoder.width) == (whole.digest, whole.width)
    loaded = []
    monkeypatch.setattr(token_encoder, "load_token_encoder", lambda name: loaded.append(name) or whole)
    for one, other in zip(encoder.encode_questions(TEXTS), whole.encode_questions(TEXTS), strict=True):
        assert one == pytest.approx(other, abs=1e-4)
    assert (encoder.encode_questions([]), loaded) == ([], [])
    first.TORCH.budget = 5
    encoder.encode_questions(TEXTS)
    encoder.encode_passages(TEXTS)
    encoder.encode_questions(["a"])
    assert loaded == [BUILTIN]


def test_a_reader_goes_on_with_torch(monkeypatch) -> None:
    reader = load_reader()
    assert isinstance(reader.scores, FirstScores)
    tokens = PackedTokens.of([[101, 2040, 102], [101, 102]])
    before = reader.scores(tokens)
    first.TORCH.budget = 4
    assert reader.scores(tokens) == pytest.approx(before, abs=2e-4)
    assert reader.scores._bert is None


def test_weights_that_do_not_fit_are_left_to_torch_which_names_the_fault(tmp_path) -> None:
    delta = tmp_path / READER
    delta.write_bytes((builtin_folder("reader") / READER).read_bytes()[:5000])
    with pytest.raises(ModelRejected, match="cannot be read"):
        tuned_arrays(delta)
    assert first.first_model(delta) is None
    with pytest.raises(ModelRejected, match=READER):
        load_reader(str(tmp_path))


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("bert.embeddings.LayerNorm.bias:f32", lambda one: one[:5]),
        ("bert.encoder.layer.0.output.dense.weight:scale", lambda one: one[:, 0]),
        ("bert.encoder.layer.0.output.dense.weight:scale", lambda one: one * np.float32("nan")),
        ("qa_outputs.bias:new", lambda one: one[:1]),
    ],
)
def test_weights_of_another_shape_or_no_number_are_rejected(tmp_path, key, change) -> None:
    stored = load_file(builtin_folder("reader") / READER)
    stored[key] = np.ascontiguousarray(change(stored[key]))
    save_file(stored, tmp_path / READER, metadata={"format": DELTA_FORMAT, "base_sha256": BASE_SHA256})
    with pytest.raises(ModelRejected, match=READER):
        FirstScores(NumpyBert.over_base(tmp_path / READER), lambda: None)
