"""The first questions of a process are computed in numpy, with the results of torch."""

import math

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from spanwise.errors import ModelRejected
from spanwise.models import cold_start, encoder
from spanwise.models.batching import PackedTokens
from spanwise.models.bert import bert_span_model
from spanwise.models.cold_start import NumpyFirstTokenEncoder, PostponedScores
from spanwise.models.model_files import BASE_SHA256, BUILTIN, READER, builtin_folder, find_base
from spanwise.models.numpy_bert import DELTA_FORMAT, PREFIX, NumpyBert, gelu
from spanwise.models.weights import Checkpoint, read_checkpoint, tuned_weights
from spanwise.postponed import PostponedImport
from spanwise.reader.load import load_reader
from spanwise.reader.span_reader import SpanScores

DELTA = builtin_folder("reader") / READER
TEXTS = ["Who built the mill?", "mill", "", "How many boats sail to the island on a Sunday in winter? " * 4]


@pytest.fixture(autouse=True)
def no_torch(float32: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch computes in float32 and counts as not imported."""
    monkeypatch.setattr(cold_start, "TORCH", PostponedImport("this", 10_000))


@pytest.fixture(scope="module")
def reader_model() -> torch.nn.Module:
    checkpoint = read_checkpoint(find_base())
    weights = tuned_weights(checkpoint.weights, DELTA, PREFIX)
    model = bert_span_model(Checkpoint(checkpoint.config, weights))
    assert model is not None
    return model


def test_a_postponed_import_is_worthwhile_once_the_budget_is_spent() -> None:
    absent = PostponedImport("this", 10)
    assert [absent.is_worth(n) for n in (6, 4, 0, 1)] == [False, False, False, True]
    assert PostponedImport("sys", 10).is_worth(1)
    assert not PostponedImport("not installed", 10).is_worth(99)


def test_gelu_agrees_with_the_error_function() -> None:
    x = np.linspace(-9, 9, 4001, dtype=np.float32)
    exact = np.array([v / 2 * math.erfc(-v / math.sqrt(2)) for v in x.tolist()])
    assert np.abs(gelu(x[np.newaxis].copy())[0] - exact).max() < 1e-6


def test_scores_agree_with_torch(reader_model: torch.nn.Module) -> None:
    random = np.random.default_rng(0)
    rows = [random.integers(1000, 29_000, n).tolist() for n in (1, 7, 130, 384)]
    tokens = PackedTokens.of(rows)
    tokens.types[9:] = 1
    scores = PostponedScores(lambda: None, NumpyBert.over_base(DELTA))(tokens)
    assert scores.shape == (522, 7)
    assert scores == pytest.approx(SpanScores(reader_model)(tokens), abs=2e-4)


def test_questions_are_encoded_as_by_torch_until_the_budget_is_spent(monkeypatch) -> None:
    torch_encoder = encoder.load_token_encoder(BUILTIN)
    numpy_encoder = cold_start.load_token_encoder(BUILTIN)
    assert isinstance(numpy_encoder, NumpyFirstTokenEncoder)
    assert numpy_encoder.digest == torch_encoder.digest
    assert numpy_encoder.width == torch_encoder.width
    loaded = []
    monkeypatch.setattr(encoder, "load_token_encoder", lambda name: loaded.append(name) or torch_encoder)
    expected = torch_encoder.encode_questions(TEXTS)
    for ours, theirs in zip(numpy_encoder.encode_questions(TEXTS), expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)
    assert numpy_encoder.encode_questions([]) == []
    assert loaded == []
    cold_start.TORCH.budget = 5
    numpy_encoder.encode_questions(TEXTS)
    numpy_encoder.encode_passages(TEXTS)
    numpy_encoder.encode_questions(["a"])
    assert loaded == [BUILTIN]


def test_a_reader_continues_with_torch_once_the_budget_is_spent() -> None:
    reader = load_reader()
    assert isinstance(reader.scores, PostponedScores)
    tokens = PackedTokens.of([[101, 2040, 102], [101, 102]])
    before = reader.scores(tokens)
    cold_start.TORCH.budget = 4
    assert reader.scores(tokens) == pytest.approx(before, abs=2e-4)
    assert reader.scores._bert is None


def test_damaged_weights_are_left_to_torch_which_names_the_file(tmp_path) -> None:
    damaged = tmp_path / READER
    damaged.write_bytes(DELTA.read_bytes()[:5000])
    with pytest.raises(ModelRejected, match="cannot be read"):
        NumpyBert.over_base(damaged)
    assert cold_start.numpy_model(damaged) is None
    with pytest.raises(ModelRejected, match=READER):
        load_reader(str(tmp_path))


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("bert.embeddings.LayerNorm.bias:f32", lambda values: values[:5]),
        ("bert.encoder.layer.0.output.dense.weight:scale", lambda values: values[:, 0]),
        ("bert.encoder.layer.0.output.dense.weight:scale", lambda values: values * np.float32("nan")),
        ("qa_outputs.bias:new", lambda values: values[:1]),
    ],
)
def test_weights_of_a_wrong_shape_or_not_finite_are_rejected(tmp_path, key, change) -> None:
    stored = load_file(DELTA)
    stored[key] = np.ascontiguousarray(change(stored[key]))
    save_file(stored, tmp_path / READER, metadata={"format": DELTA_FORMAT, "base_sha256": BASE_SHA256})
    with pytest.raises(ModelRejected, match=READER):
        PostponedScores(lambda: None, NumpyBert.over_base(tmp_path / READER))
