from __future__ import annotations

import pytest
from torch import nn

from spanwise.models.layer_rates import parameter_groups
from spanwise.models.load import tuned_backbone
from spanwise.models.training import layer_scales


def test_each_layer_of_the_base_is_slower_than_the_one_above():
    names = [*dict(tuned_backbone()[0].named_parameters()), "qa_outputs.weight"]
    scales = layer_scales(names, 0.9)
    assert scales["qa_outputs.weight"] == 1
    assert scales["encoder.layer.5.output.dense.weight"] == pytest.approx(0.9)
    assert scales["encoder.layer.0.output.dense.weight"] == pytest.approx(0.9**6)
    assert scales["embeddings.position_embeddings.weight"] == pytest.approx(0.9**7)


def test_without_decay_there_is_one_rate_and_vectors_are_not_decayed():
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))
    groups = parameter_groups(dict(model.named_parameters()), weight_decay=0.01, layer_decay=1.0)
    assert [(group["scale"], group["weight_decay"], len(group["params"])) for group in groups] == [
        (1.0, 0.01, 1),
        (1.0, 0.0, 3),
    ]
