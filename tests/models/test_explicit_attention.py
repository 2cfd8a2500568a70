from __future__ import annotations

import pytest
import torch
from transformers import BertConfig, BertForQuestionAnswering, RobertaConfig, RobertaModel

from spanwise.models.bert import bert_backbone
from spanwise.models.explicit_attention import NAME
from spanwise.models.training import fast_training_attention
from spanwise.models.weights import Checkpoint

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
SETTINGS = {"model_type": "bert", "vocab_size": 20, "max_position_embeddings": 512, **SIZES}
IDS = torch.arange(12).reshape(2, 6)
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]])


def a_bert(**settings):
    torch.manual_seed(0)
    return BertForQuestionAnswering(BertConfig(vocab_size=20, **SIZES, **settings))


def gradients(model):
    output = model(input_ids=IDS, attention_mask=MASK)
    seen = (output.start_logits + 2 * output.end_logits)[MASK.bool()]
    seen.square().sum().backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    return seen.detach(), found


def test_results_and_gradients_are_those_of_the_fused_attention():
    model = a_bert(attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0)
    expected, expected_gradients = gradients(model)
    with fast_training_attention(model):
        assert model.config._attn_implementation == NAME
        found, found_gradients = gradients(model)
    assert torch.allclose(found, expected, atol=1e-5)
    for name, gradient in expected_gradients.items():
        assert torch.allclose(found_gradients[name], gradient, atol=1e-4), name


def test_what_was_there_before_comes_back_also_after_an_error():
    model = a_bert()
    before = model.config._attn_implementation
    with pytest.raises(KeyError), fast_training_attention(model):
        raise KeyError
    assert model.config._attn_implementation == before != NAME


def test_probabilities_are_dropped_in_training_only():
    model = a_bert(attention_probs_dropout_prob=0.5, hidden_dropout_prob=0.0)
    with fast_training_attention(model):
        model.train()
        assert not torch.equal(gradients(model)[0], gradients(model)[0])
        model.eval()
        assert torch.equal(gradients(model)[0], gradients(model)[0])


def test_the_softmax_is_not_widened_by_autocast():
    model = a_bert()
    with fast_training_attention(model), torch.autocast("cpu", dtype=torch.bfloat16):
        found = model.bert.encoder.layer[0].attention.self(torch.randn(2, 6, 16))[0]
    assert found.dtype == torch.bfloat16


def test_other_models_stay_as_they_are():
    model = RobertaModel(RobertaConfig(vocab_size=20, **SIZES))
    before = model.config._attn_implementation
    with fast_training_attention(model):
        assert model.config._attn_implementation == before


def test_our_own_encoder_attends_so_only_in_training():
    checkpoint = Checkpoint(SETTINGS, a_bert().bert.state_dict())
    encoder = bert_backbone(checkpoint)
    fused = encoder(IDS, MASK).last_hidden_state
    encoder.train()
    written_out = encoder(IDS, MASK).last_hidden_state
    assert torch.allclose(written_out[MASK.bool()], fused[MASK.bool()], atol=1e-5)
    assert not torch.equal(written_out, fused)
