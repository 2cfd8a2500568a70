"""Low-rank updates: nothing at the start, the same merged and apart, few weights trained."""

from __future__ import annotations

import pytest
import torch
from made_readers import FAMILIES, question_answerer
from torch import nn

from spanwise.models.lora import (
    ATTENTION,
    Lora,
    add_updates,
    freeze_but_updates,
    has_updates,
    merge_updates,
    updates,
)
from spanwise.models.pretrained import load_span_model
from spanwise.models.training import own_memory

IDS = torch.tensor([[5, 6, 7, 8, 9]])


@pytest.fixture
def model(tmp_path):
    return own_memory(load_span_model(question_answerer(tmp_path)))


def drawn(model: nn.Module) -> None:
    """Updates as a training could have left them."""
    for update in updates(model).values():
        nn.init.normal_(update.lora_B)


@torch.no_grad()
def logits(model: nn.Module) -> torch.Tensor:
    found = model(input_ids=IDS, attention_mask=torch.ones_like(IDS))
    return torch.stack([found.start_logits, found.end_logits])


def test_q12_merged_and_apart():
    layer = nn.Linear(2, 2, bias=False)
    layer.weight = nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    net = nn.ModuleDict({"query": layer})
    add_updates(net, Lora(1, 2.0))
    update = updates(net)["query"]
    update.lora_A.data, update.lora_B.data = torch.tensor([[1.0, -1.0]]), torch.tensor([[0.5], [2.0]])
    x = torch.tensor([3.0, 1.0])
    assert net["query"](x).tolist() == pytest.approx([7, 21], abs=1e-6)
    merge_updates(net)
    assert net["query"].weight.tolist() == [[2.0, 1.0], [7.0, 0.0]]
    assert net["query"](x).tolist() == pytest.approx([7, 21], abs=1e-6)


def test_q13_at_the_start_it_computes_what_the_base_does(model):
    before = logits(model)
    add_updates(model, Lora(8, 16.0))
    assert torch.equal(logits(model), before)
    assert {update.scale for update in updates(model).values()} == {2.0}


def test_q13_at_the_start_only_b_has_a_gradient(model):
    add_updates(model, Lora(2, 4.0))
    freeze_but_updates(model)
    model(input_ids=IDS, attention_mask=torch.ones_like(IDS)).start_logits[0, 1].backward()
    for update in updates(model).values():
        assert not update.lora_A.grad.any()
    assert any(update.lora_B.grad.any() for update in updates(model).values())


@pytest.mark.parametrize(("size", "rank", "n"), [(4096, 8, 65_536), (768, 8, 12_288)])
def test_q9_q10_how_many_weights_are_trained(size, rank, n):
    net = nn.ModuleDict({"query": nn.Linear(size, size, device="meta")})
    add_updates(net, Lora(rank, 16.0))
    assert sum(p.numel() for p in updates(net)["query"].parameters()) == n


def test_q11_queries_and_values_of_bert_base():
    from transformers import BertConfig, BertModel

    with torch.device("meta"):
        model = BertModel(BertConfig())
    add_updates(model, Lora(8, 16.0))
    assert sum(p.numel() for update in updates(model).values() for p in update.parameters()) == 294_912


def test_merging_changes_no_logit(model):
    add_updates(model, Lora(2, 4.0))
    drawn(model)
    before = logits(model)
    merge_updates(model)
    assert not has_updates(model)
    assert torch.allclose(logits(model), before, atol=1e-6)


def test_the_head_and_the_updates_alone_are_trained(model):
    add_updates(model, Lora(2, 4.0))
    freeze_but_updates(model)
    trained = {name for name, p in model.named_parameters() if p.requires_grad}
    assert {name.rpartition(".")[2] for name in trained} == {"lora_A", "lora_B", "weight", "bias"}
    assert {name for name in trained if "lora" not in name} == {"qa_outputs.weight", "qa_outputs.bias"}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_queries_and_values(tmp_path, family):
    model = load_span_model(question_answerer(tmp_path, family))
    add_updates(model, Lora(1, 1.0))
    assert len(updates(model)) == (2 if family in ("Albert", "Deberta") else 4)  # one layer, one matrix


def test_a_model_without_such_layers_is_refused():
    with pytest.raises(ValueError, match="no linear layer called query"):
        add_updates(nn.Sequential(nn.Linear(2, 2)), Lora(1, 1.0), ATTENTION)


def test_an_update_of_no_rank_is_refused():
    with pytest.raises(ValueError, match="rank must be 1 or more, not 0"):
        Lora(0, 1.0)
