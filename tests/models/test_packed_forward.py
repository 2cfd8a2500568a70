"""Our packed BERT computes the states and gradients of transformers, at any lengths."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from helpers.tiny_models import of_family, tokens_of
from hypothesis import given, settings, strategies as st

from spanwise.models import packed_training
from spanwise.models.bert import bert_backbone, span_model_names
from spanwise.models.numpy_bert import BertConfig
from spanwise.models.packed_forward import (
    Backbone,
    PackedBert,
    PackedTokens,
    attend,
    is_packable,
    padded_forward,
)
from spanwise.models.precision import PlainLinear, PrepackedLinear, has_bf16, kind_for
from spanwise.models.weights import Checkpoint

CPU = torch.device("cpu")
LENGTHS = st.lists(st.integers(1, 80) | st.just(512), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def bert():
    return of_family("Bert")


def least_cosine(states, expected):
    return float(torch.nn.functional.cosine_similarity(states.float(), expected.float(), dim=1).min())


def test_float32_states_are_those_of_transformers(bert, float32):
    tokens = tokens_of([512, 33, 32, 32, 7, 1])
    expected = padded_forward(bert, tokens, "last_hidden_state")
    assert torch.allclose(Backbone(bert).states(tokens), expected, atol=1e-4)
    other_segment = PackedTokens(tokens.ids, np.ones_like(tokens.ids), tokens.lengths)
    assert not torch.allclose(Backbone(bert).states(other_segment), expected, atol=1e-2)


@settings(max_examples=20)
@given(LENGTHS)
def test_a_sequence_has_the_same_states_alone_and_among_others(bert, lengths):
    backbone = PackedBert(bert, torch.float32)
    tokens = tokens_of(lengths)
    rows = np.split(tokens.ids, np.cumsum(lengths)[:-1])
    alone = torch.cat([backbone.states(PackedTokens.of([row.tolist()])) for row in rows])
    assert torch.allclose(backbone.states(tokens), alone, atol=1e-4)


@pytest.mark.skipif(not has_bf16(CPU), reason="this processor has no bf16")
@pytest.mark.parametrize("family", ["Bert", "MPNet"])
@pytest.mark.parametrize("kind", [PlainLinear, PrepackedLinear])
def test_states_in_bf16_have_the_direction_of_those_in_float32(monkeypatch, kind, family):
    monkeypatch.setattr("spanwise.models.packed_forward.kind_for", lambda dtype, device: kind)
    _, model = published(family)
    tokens = tokens_of([1, 9, 80, 300])
    expected = PackedBert(model, torch.float32).states(tokens)
    assert least_cosine(PackedBert(model, torch.bfloat16).states(tokens), expected) > 0.999


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_public_kernels_work_without_the_private_ones(bert, monkeypatch, dtype):
    tokens = tokens_of([12, 40])
    expected = PackedBert(bert, dtype).states(tokens)
    monkeypatch.setattr(PrepackedLinear, "gelu", lambda self, x: self(x))  # as a release that changed them
    assert kind_for(dtype, CPU) is PlainLinear
    assert least_cosine(PackedBert(bert, dtype).states(tokens), expected) > 0.999


def example_loss(states):
    """A sum of all states with different weights."""
    return (states * torch.linspace(-1, 1, states.numel(), device=states.device).view_as(states)).sum()


def published(family):
    """A model of transformers in memory, and ours with its weights."""
    model = of_family(family)
    return model, bert_backbone(Checkpoint(model.config.to_dict(), model.state_dict()))


@pytest.mark.parametrize("lengths", [[512, 33, 32, 32, 7, 1], [16, 16], [200]])
def test_float32_states_of_an_mpnet_are_those_of_transformers(lengths, float32):
    theirs, ours = published("MPNet")
    tokens = tokens_of(lengths)
    expected = padded_forward(theirs, tokens, "last_hidden_state")
    assert torch.allclose(Backbone(ours).states(tokens), expected, atol=1e-4)


def test_an_mpnet_that_lacks_a_weight_is_not_loaded():
    model = of_family("MPNet")
    weights = model.state_dict()
    del weights["encoder.relative_attention_bias.weight"]
    assert bert_backbone(Checkpoint(model.config.to_dict(), weights)) is None


@pytest.mark.parametrize("attention", [None, SimpleNamespace(apply=attend)])
def test_training_an_mpnet_gives_the_gradients_of_transformers(attention, monkeypatch, float32):
    if attention:
        monkeypatch.setattr(packed_training, "_Attention", attention)
    theirs, ours = published("MPNet")
    ours.requires_grad_(True)
    tokens = tokens_of([40, 7, 16])
    ids, mask, _ = map(torch.from_numpy, tokens.padded(1))
    states = packed_training.training_states(ours, tokens)
    expected = theirs(ids, mask).last_hidden_state[mask.bool()]
    assert torch.allclose(states, expected, atol=1e-4)
    example_loss(states).backward()
    example_loss(expected).backward()
    gradients = {our_name: theirs.get_parameter(name).grad for name, our_name in names_of(theirs).items()}
    for name, parameter in ours.named_parameters():
        if not name.endswith(("relative_attention_bias.weight", "key.bias")):
            gradient = parameter.grad.flatten()
            assert torch.cosine_similarity(gradient, gradients[name].flatten(), dim=0) > 0.9999


def names_of(mpnet):
    config = BertConfig.read(mpnet.config.to_dict())
    names = span_model_names(config, [name for name, _ in mpnet.named_parameters()])
    return {theirs: ours.removeprefix("bert.") for theirs, ours in names.items()}


def test_norms_have_the_precision_of_their_input_on_other_devices_than_the_cpu():
    layer = PackedBert(of_family("Bert").to("meta"), torch.bfloat16).layers[0]
    norms = (layer.attention_norm, layer.output_norm)
    assert {weight.dtype for norm in norms for weight in norm.parameters()} == {torch.bfloat16}


@pytest.mark.gpu
def test_states_on_a_gpu_have_the_direction_of_those_on_the_cpu():
    model = of_family("Bert")
    tokens = tokens_of([1, 9, 16, 80, 81, 512])
    expected = PackedBert(model, torch.float32).states(tokens)
    assert least_cosine(Backbone(model.to("cuda")).states(tokens).cpu(), expected) > 0.999


@pytest.mark.gpu
@pytest.mark.parametrize("family", ["Bert", "MPNet"])
def test_gradients_on_a_gpu_have_the_direction_of_those_on_the_cpu(family, float32):
    _, model = published(family)
    model.requires_grad_(True)
    tokens = tokens_of([1, 9, 16, 80, 81, 352])
    gradients = []
    for device in ("cpu", "cuda"):
        model.to(device).zero_grad()
        example_loss(packed_training.training_states(model, tokens).float()).backward()
        gradients.append(
            {name: p.grad.cpu().flatten() for name, p in model.named_parameters() if p.grad is not None}
        )
    for name, expected in gradients[0].items():
        if not name.endswith("key.bias"):
            assert torch.cosine_similarity(gradients[1][name], expected, dim=0) > 0.97, name


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
    tokens = tokens_of([40, 7, 16])
    results = []
    ids, mask, types = map(torch.from_numpy, tokens.padded(0))
    for states in (
        packed_training.training_states(bert, tokens).float(),
        bert(ids, mask, types).last_hidden_state[mask.bool()],
    ):
        bert.zero_grad()
        example_loss(states).backward()
        named = [(name, p.grad) for name, p in bert.named_parameters() if p.grad is not None]
        gradients = [gradient.flatten() for name, gradient in named if not name.endswith("key.bias")]
        results.append((states.detach(), torch.cat(gradients)))
    (states, gradient), (expected_states, expected_gradient) = results
    assert least_cosine(states, expected_states) > least
    assert torch.cosine_similarity(gradient, expected_gradient, dim=0) > least
