from __future__ import annotations

import pytest
import torch
from torch import nn

from spanwise.models.weight_average import WeightAverage


def weight(*values: float) -> dict[str, nn.Parameter]:
    return {"w": nn.Parameter(torch.tensor(values))}


def test_the_mean_forgets_where_the_run_began():
    parameters = weight(0.0)
    average = WeightAverage(parameters, 0.999)
    with torch.no_grad():
        parameters["w"].fill_(11.0)
    average.update(1)  # d = 2 / 11
    with average.in_place():
        assert parameters["w"].item() == pytest.approx(9.0)
    assert parameters["w"].item() == 11.0


def test_late_steps_count_as_the_decay_says():
    parameters = weight(1.0)
    average = WeightAverage(parameters, 0.75)
    with torch.no_grad():
        parameters["w"].fill_(2.0)
    average.update(10_000)
    with average.in_place():
        assert parameters["w"].item() == pytest.approx(1.25)


def test_without_a_decay_nothing_is_kept():
    parameters = weight(1.0, 2.0)
    average = WeightAverage(parameters, 0.0)
    average.update(1)
    assert average.tensors() == {}
    with average.in_place():
        assert parameters["w"].tolist() == [1.0, 2.0]


def test_a_checkpoint_brings_it_back():
    first, second = WeightAverage(weight(1.0), 0.5), WeightAverage(weight(3.0), 0.5)
    second.load(first.tensors())
    assert second.tensors()["w:average"].item() == 1.0


@pytest.mark.parametrize("decay", [-0.1, 1.0])
def test_a_decay_that_averages_nothing_is_refused(decay):
    with pytest.raises(ValueError, match="decay of the average"):
        WeightAverage(weight(1.0), decay)
