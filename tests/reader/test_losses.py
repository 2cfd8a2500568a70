"""The losses of a reader, compared with sums by hand."""

import math

import pytest
import torch

from spanwise.reader.losses import evidence_loss, shared_normalization_loss, span_loss

LABELS = (0.0, -1.0, 1.0)


def bce(logit, sign):
    return math.log1p(math.exp(-sign * logit))


@pytest.mark.parametrize(
    ("allowed", "p"), [(range(15), 0.446807), (range(8, 15), 0.900987), ([0, *range(8, 15)], 0.886360)]
)
def test_the_softmax_runs_over_the_allowed_positions(allowed, p):
    logits = torch.zeros(1, 15)
    logits[0, [3, 12]] = 4
    mask = torch.zeros(1, 15, dtype=torch.bool)
    mask[0, list(allowed)] = True
    gold = torch.tensor([12])
    loss = float(span_loss(logits, logits, mask, gold, gold))
    assert torch.tensor(-loss / 2).exp() == pytest.approx(p, abs=1e-5)


def test_the_evidence_loss_equals_a_sum_by_hand():
    evidence = torch.zeros(2, 8, 5)
    evidence[0, 0, 1] = 2
    evidence[1, 0, 1] = 1
    evidence[0, 4] = torch.tensor([3.0, 9, -1, 9, 4])
    is_passage = torch.zeros(2, 8, dtype=torch.bool)
    is_passage[:, 3:5] = True
    wanted = torch.zeros(2, 8)
    wanted[0, 4] = 1
    labels = torch.tensor([LABELS, (-1.0, -1.0, -1.0)])
    support = (bce(3, 1) + 3 * bce(0, -1)) / 4
    passage = (bce(2, 1) + bce(1, -1)) / 2 + bce(2 - 1, 1)
    of_labels = 0.9 * (bce(-1, -1) + bce(4, 1)) / 2
    loss = evidence_loss(evidence, wanted, is_passage, labels, 0, [2])
    assert float(loss) == pytest.approx(support + passage + of_labels, abs=1e-5)


def test_one_softmax_runs_over_all_passages_of_a_question_and_one_none():
    start = torch.tensor([[1.0, 3, 0, 0], [3.0, 1, 2, 0], [5.0, 1, 1, 0]])
    end = 2 * start
    is_passage = torch.tensor([[False, True, True, False]] * 3)
    first = torch.tensor([1, 0, 0])
    last = torch.tensor([2, 0, 0])
    none = (1 + 3) / 2

    def lse(values):
        return math.log(sum(map(math.exp, values)))

    answered = lse([none, 3, 0, 1, 2]) - 3 + lse([2 * none, 6, 0, 2, 4]) - 0
    absent = lse([5, 1, 1]) - 5 + lse([10, 2, 2]) - 10
    loss = shared_normalization_loss(start, end, is_passage, 0, [2, 1], first, last)
    assert float(loss) == pytest.approx((answered + absent) / 2, abs=1e-5)


def test_the_order_of_the_other_passages_does_not_matter():
    torch.manual_seed(0)
    start, end = torch.randn(2, 3, 6)
    is_passage = torch.rand(3, 6) > 0.3
    is_passage[:, 0] = False
    is_passage[0, 2] = True
    gold = torch.tensor([2, 0, 0])
    swapped = [0, 2, 1]
    loss = shared_normalization_loss(start, end, is_passage, 0, [3], gold, gold)
    other = shared_normalization_loss(start[swapped], end[swapped], is_passage[swapped], 0, [3], gold, gold)
    assert float(loss) == pytest.approx(float(other), abs=1e-6)
