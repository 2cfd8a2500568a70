"""The packed forward pass says what transformers says, whatever the lengths and their company."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import tiny_config, tiny_encoder

from spanwise.models.packed import (
    Backbone,
    PackedBert,
    PackedTokens,
    PlainLinear,
    PrepackedLinear,
    is_packable,
    kind_for,
    packable_part,
    padded_forward,
)
from spanwise.models.pretrained import load_encoder_trunk

CPU = torch.device("cpu")
LENGTHS = st.lists(st.integers(1, 80) | st.just(512), min_size=1, max_size=6)

SMALL = dict(hidden_size=32, num_attention_heads=2, num_hidden_layers=1, intermediate_size=32, hidden_dim=32)


def of_family(family: str):
    import transformers

    sizes = dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=2)
    sizes |= dict(intermediate_size=64, max_position_embeddings=520)
    torch.manual_seed(1)
    model = getattr(transformers, f"{family}Model")(getattr(transformers, f"{family}Config")(**sizes))
    for parameter in model.parameters():  # fresh weights are so small that layers would change little
        torch.nn.init.normal_(parameter, std=0.2)
    return model.eval()


@pytest.fixture(scope="module")
def bert():
    return of_family("Bert")


def rows_of(lengths, seed=0):
    random = np.random.default_rng(seed)
    return [random.integers(5, 99, size=length).tolist() for length in lengths]


def cosines(one, other):
    return torch.nn.functional.cosine_similarity(one.float(), other.float(), dim=1)


@pytest.mark.parametrize("family", ["Bert", "Roberta", "XLMRoberta"])
def test_float32_states_are_those_of_transformers(family, monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)
    model, tokens = of_family(family), PackedTokens.of(rows_of([512, 33, 32, 32, 7, 1]))
    assert is_packable(model)
    expected = padded_forward(model, tokens, "last_hidden_state")
    assert torch.allclose(Backbone(model).states(tokens), expected, atol=1e-4)


@settings(max_examples=20)
@given(LENGTHS)
def test_a_sequence_among_others_has_the_states_that_it_has_alone(bert, lengths):
    trunk, rows = PackedBert(bert, torch.float32), rows_of(lengths)
    together = trunk.states(PackedTokens.of(rows))
    alone = torch.cat([trunk.states(PackedTokens.of([row])) for row in rows])
    assert torch.allclose(together, alone, atol=1e-4)


@pytest.mark.skipif(not torch.cpu._is_avx512_bf16_supported(), reason="this processor has no bf16")
@pytest.mark.parametrize("kind", [PlainLinear, PrepackedLinear])
def test_bf16_points_where_float32_does(bert, monkeypatch, kind):
    monkeypatch.setattr("spanwise.models.packed_bert.kind_for", lambda dtype, device: kind)
    tokens = PackedTokens.of(rows_of([1, 9, 80, 300]))
    one, other = (PackedBert(bert, dtype).states(tokens) for dtype in (torch.bfloat16, torch.float32))
    assert float(cosines(one, other).min()) > 0.999


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_without_the_private_kernels_the_public_ones_work(bert, monkeypatch, dtype):
    tokens = PackedTokens.of(rows_of([12, 40]))
    expected = PackedBert(bert, dtype).states(tokens)
    monkeypatch.setattr(PrepackedLinear, "gelu", lambda self, x: self(x))  # as a release that changed them
    assert kind_for(dtype, CPU) is PlainLinear
    assert float(cosines(PackedBert(bert, dtype).states(tokens), expected).min()) > 0.999


@pytest.mark.gpu
def test_a_gpu_points_where_the_processor_does():
    model, tokens = of_family("Bert"), PackedTokens.of(rows_of([1, 9, 16, 80, 81, 512]))
    expected = PackedBert(model, torch.float32).states(tokens)
    assert float(cosines(Backbone(model.to("cuda")).states(tokens).cpu(), expected).min()) > 0.999


def test_segments_are_heeded(bert):
    tokens = PackedTokens.of(rows_of([8]))
    other = PackedTokens(tokens.ids, np.ones_like(tokens.ids), tokens.lengths)
    trunk = PackedBert(bert, torch.float32)
    assert not torch.allclose(trunk.states(tokens), trunk.states(other), atol=1e-2)


@pytest.mark.parametrize("family", ["DistilBert", "MPNet", "Electra"])
def test_other_models_run_as_they_are(family, monkeypatch):
    import transformers

    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(vocab_size=99, max_position_embeddings=64, **SMALL)
    model = getattr(transformers, f"{family}Model")(config).eval()
    assert not is_packable(model)
    assert Backbone(model).states(PackedTokens.of(rows_of([3, 9]))).shape == (12, model.config.hidden_size)


@pytest.mark.parametrize("setting", [{"hidden_act": "relu"}, {"is_decoder": True}])
def test_what_is_computed_otherwise_is_not_packed(setting):
    from transformers import BertModel

    config = tiny_config()
    config.update(setting)
    assert not is_packable(BertModel(config))


def test_the_trunk_below_a_head_is_found():
    from transformers import BertForQuestionAnswering, DistilBertConfig, DistilBertForQuestionAnswering

    model = BertForQuestionAnswering(tiny_config())
    assert packable_part(model) is model.bert
    assert packable_part(DistilBertForQuestionAnswering(DistilBertConfig(vocab_size=99, n_layers=1))) is None


@pytest.mark.parametrize("rows", [[], [[]], [[1], []]])
def test_nothing_cannot_be_packed(rows):
    with pytest.raises(ValueError, match="expected some"):
        PackedTokens.of(rows)


def test_tokens_that_are_not_attended_to_change_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)
    model = load_encoder_trunk(tiny_encoder(tmp_path))
    rows = [list(range(1000, 1000 + n)) for n in (3, 20, 33)]
    longer = PackedTokens.of([row + [103] * 9 for row in rows], [len(row) for row in rows])
    alone = torch.split(Backbone(model).states(PackedTokens.of(rows)), [len(row) for row in rows])
    for states in (Backbone(model).states(longer), padded_forward(model, longer, "last_hidden_state")):
        for found, expected in zip(torch.split(states, longer.lengths.tolist()), alone, strict=True):
            assert torch.allclose(found[: len(expected)], expected, atol=1e-5)
            assert not torch.allclose(found[-1], found[-2], atol=1e-3)  # masks differ by their places
