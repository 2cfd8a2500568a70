"""Our BERT, padded and packed, computes what transformers computes, whatever the lengths beside it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import of_family, tokens_of

from spanwise.models import packed_training
from spanwise.models.packed import (
    Backbone,
    PackedBert,
    PackedTokens,
    attend,
    is_packable,
    padded_forward,
)
from spanwise.models.precision import has_bf16
from spanwise.models.products import PlainLinear, PrepackedLinear, kind_for

CPU = torch.device("cpu")
LENGTHS = st.lists(st.integers(1, 80) | st.just(512), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def bert():
    return of_family("Bert")


def least_cosine(one, other):
    return float(torch.nn.functional.cosine_similarity(one.float(), other.float(), dim=1).min())


def test_float32_states_are_those_of_transformers(bert, float32):
    tokens = tokens_of([512, 33, 32, 32, 7, 1])
    expected = padded_forward(bert, tokens, "last_hidden_state")
    assert torch.allclose(Backbone(bert).states(tokens), expected, atol=1e-4)
    other = PackedTokens(tokens.ids, np.ones_like(tokens.ids), tokens.lengths)
    assert not torch.allclose(Backbone(bert).states(other), expected, atol=1e-2)


@settings(max_examples=20)
@given(LENGTHS)
def test_a_sequence_among_others_has_the_states_that_it_has_alone(bert, lengths):
    backbone, tokens = PackedBert(bert, torch.float32), tokens_of(lengths)
    rows = np.split(tokens.ids, np.cumsum(lengths)[:-1])
    alone = torch.cat([backbone.states(PackedTokens.of([row.tolist()])) for row in rows])
    assert torch.allclose(backbone.states(tokens), alone, atol=1e-4)


@pytest.mark.skipif(not has_bf16(CPU), reason="this processor has no bf16")
@pytest.mark.parametrize("kind", [PlainLinear, PrepackedLinear])
def test_bf16_points_where_float32_does(bert, monkeypatch, kind):
    monkeypatch.setattr("spanwise.models.packed.kind_for", lambda dtype, device: kind)
    tokens = tokens_of([1, 9, 80, 300])
    one, other = (PackedBert(bert, dtype).states(tokens) for dtype in (torch.bfloat16, torch.float32))
    assert least_cosine(one, other) > 0.999


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_without_the_private_kernels_the_public_ones_work(bert, monkeypatch, dtype):
    tokens = tokens_of([12, 40])
    expected = PackedBert(bert, dtype).states(tokens)
    monkeypatch.setattr(PrepackedLinear, "gelu", lambda self, x: self(x))  # as a release that changed them
    assert kind_for(dtype, CPU) is PlainLinear
    assert least_cosine(PackedBert(bert, dtype).states(tokens), expected) > 0.999


@pytest.mark.gpu
def test_a_gpu_points_where_the_processor_does():
    model, tokens = of_family("Bert"), tokens_of([1, 9, 16, 80, 81, 512])
    expected = PackedBert(model, torch.float32).states(tokens)
    assert least_cosine(Backbone(model.to("cuda")).states(tokens).cpu(), expected) > 0.999


@pytest.mark.parametrize("changes", [{"hidden_act": "relu"}, {"is_decoder": True}])
def test_other_forward_passes_are_not_packed(changes):
    assert not is_packable(of_family("Bert", **changes))
    model = of_family("Electra")
    assert not is_packable(model)
    assert Backbone(model).states(tokens_of([3, 9])).shape == (12, 32)


@pytest.mark.parametrize(
    ("dtype", "attention", "least"),
    [
        (torch.float32, None, 0.99999),
        (torch.bfloat16, None, 0.97),
        (torch.float32, SimpleNamespace(apply=attend), 0.99999),
    ],
)
def test_training_gives_states_and_gradients_of_padded_batches(bert, dtype, attention, least, monkeypatch):
    monkeypatch.setattr(packed_training, "compute_dtype", lambda device: dtype)
    if attention:
        monkeypatch.setattr(packed_training, "_Attention", attention)
    tokens, found = tokens_of([40, 7, 16]), []
    ids, mask, types = map(torch.from_numpy, tokens.padded(0))
    for states in (
        packed_training.training_states(bert, tokens).float(),
        bert(ids, mask, types).last_hidden_state[mask.bool()],
    ):
        bert.zero_grad()
        (states * torch.linspace(-1, 1, states.numel()).view_as(states)).sum().backward()
        named = [(name, p.grad) for name, p in bert.named_parameters() if p.grad is not None]
        gradients = [gradient.flatten() for name, gradient in named if not name.endswith("key.bias")]
        found.append((states.detach(), torch.cat(gradients)))
    (states, gradient), (expected, wanted) = found
    assert least_cosine(states, expected) > least
    assert torch.cosine_similarity(gradient, wanted, dim=0) > least
