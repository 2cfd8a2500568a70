from __future__ import annotations

import pytest
import torch

from spanwise.reader.training import span_loss

START, END = torch.tensor([[1, 5, 2, 0.0]]), torch.tensor([[4, 1, 3, 2.0]])
ALL = torch.ones(1, 4, dtype=torch.bool)


def test_r7_sum_of_the_two_cross_entropies():
    assert float(span_loss(START, END, ALL, torch.tensor([1]), torch.tensor([2]))) == pytest.approx(
        1.512362, abs=1e-5
    )


@pytest.mark.parametrize(
    ("allowed", "p"), [(range(15), 0.446807), (range(8, 15), 0.900987), ([0, *range(8, 15)], 0.886360)]
)
def test_r11_range_of_the_softmax(allowed, p):
    logits = torch.zeros(1, 15)
    logits[0, [3, 12]] = 4
    mask = torch.zeros(1, 15, dtype=torch.bool)
    mask[0, list(allowed)] = True
    gold = torch.tensor([12])
    loss = float(span_loss(logits, logits, mask, gold, gold))
    assert torch.tensor(-loss / 2).exp() == pytest.approx(p, abs=1e-5)


def test_gradient_is_zero_outside_the_allowed_positions():
    start = START.clone().requires_grad_()
    mask = torch.tensor([[True, True, False, True]])
    span_loss(start, END, mask, torch.tensor([1]), torch.tensor([1])).backward()
    assert start.grad[0, 2] == 0
